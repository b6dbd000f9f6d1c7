/** Recognizes formats by the beginning of a file, for hints when the format is wrong or missing. */
import type { Input } from "./format.ts";

type Recognized = { what: string; format?: string };

const HEAD_BYTES = 64 * 1024;

type Mark = Recognized & { mark: RegExp };

const xml: readonly Mark[] = [
  { format: "grants-gov", what: "an XML extract of Grants.gov", mark: /<(\w+:)?Grants[\s>]/ },
  { format: "nasa-roses", what: "a table of NASA's ROSES", mark: /<title>\s*ROSES-20\d\d Table 3/i },
  { what: "a page of HTML", mark: /<(!doctype )?html/i },
];

/** In order, because some member names occur in several kinds. */
const json: readonly Mark[] = [
  { format: "events", what: "events as NDJSON", mark: /^.*"detected_at"\s*:/ },
  { format: "records", what: "records as NDJSON", mark: /^.*"source": ?\{ ?"code":/ },
  { format: "sam-gov", what: "JSON of SAM.gov", mark: /"(noticeId|NoticeId|opportunitiesData)"\s*:/ },
  {
    format: "sam-gov",
    what: "a response of SAM.gov's page backend",
    mark: /"(data2|maxAllowedRecords)"\s*:|"_type"\s*:\s*"opportunity"/,
  },
  { format: "grants-gov", what: "JSON of Simpler.Grants.gov's API", mark: /"(legacy_opportunity_id|file_generated_at)"\s*:/ },
  { format: "grants-gov", what: "an API response of Grants.gov", mark: /"(oppHits|opportunityNumber|synopsis|forecast)"\s*:/ },
  { format: "dsip", what: "an API response of the DoD SBIR/STTR portal", mark: /"(topicId|topicCode|topic_code|questionId)"\s*:/ },
  { format: "sbir-gov", what: "an API response of SBIR.gov", mark: /"solicitation_(agency_url|topics)"\s*:/ },
  { format: "darpa", what: "the feed of DARPA's opportunities", mark: /"field_opportunity_number"\s*:/ },
  { format: "nasa-nspires", what: "a list of NASA NSPIRES", mark: /"aaData"\s*:/ },
  { format: "challenge-gov", what: "a list of Challenge.gov", mark: /"details_url"\s*:/ },
];

const csv: readonly Mark[] = [
  { format: "sam-gov", what: "a CSV of SAM.gov", mark: /^"?NoticeId"?,/ },
  { format: "nsf", what: "a CSV of NSF's funding search", mark: /^.*"?NSF\/PD Num"?,/ },
  { format: "simpler-grants-gov", what: "a CSV of Simpler.Grants.gov", mark: /^(?=.*\bopportunity_id\b).*\bopportunity_status\b/ },
  { format: "dsip", what: "a CSV of the DoD SBIR/STTR portal's topics", mark: /^.*\btopic_number_topiccode\b/ },
  { format: "sbir-gov", what: "a CSV of SBIR.gov's topics", mark: /^.*\bSBIRTopicLink\b/ },
];

/** The end of a sentence about a file that looks like another format; "" if it does not. */
export async function hintFor(input: Pick<Input, "name" | "bytes">, format: string): Promise<string> {
  const found = await recognize(input).catch(() => undefined); // A file that cannot be read has its own error.
  if (found === undefined || found.format === format) return "";
  return `; it looks like ${found.what}${found.format === undefined ? "" : `: ${commandFor(found.format, input.name)}`}`;
}

/** The import command, quoted for a shell. */
export function commandFor(format: string, file: string): string {
  return `fundfeed import ${format} ${/^[\w./:@%+,=-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`}`;
}

export async function recognize(input: Pick<Input, "bytes">): Promise<Recognized | undefined> {
  const head = (await headOf(input)).replace(/^\ufeff/, "").trimStart();
  const marks = head.startsWith("<") ? xml : /^[[{]/.test(head) ? json : csv;
  return marks.find(({ mark }) => mark.test(head));
}

async function headOf({ bytes }: Pick<Input, "bytes">): Promise<string> {
  const decoder = new TextDecoder();
  let head = "";
  for await (const chunk of bytes()) {
    head += decoder.decode(chunk.subarray(0, HEAD_BYTES), { stream: true });
    if (head.length >= HEAD_BYTES) break;
  }
  return head.slice(0, HEAD_BYTES);
}
