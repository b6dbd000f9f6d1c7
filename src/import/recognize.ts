/** What a file looks like, from its beginning: for whoever named the wrong format, or none. */
import type { Input } from "./format.ts";

/** In words; `format` is the one that reads it, as on the command line. */
export type Recognized = { what: string; format?: string };

const HEAD_BYTES = 64 * 1024;

type Mark = Recognized & { mark: RegExp };

const xml: readonly Mark[] = [
  { format: "grants-gov", what: "an XML extract of Grants.gov", mark: /<(\w+:)?Grants[\s>]/ },
  { what: "a page of HTML", mark: /<(!doctype )?html/i },
];

/** In this order: some names are in more than one kind. */
const json: readonly Mark[] = [
  { format: "events", what: "events as NDJSON", mark: /^(?=.*"detected_at":)(?=.*"severity":)/ },
  { format: "records", what: "records as NDJSON", mark: /^.*"source": ?\{ ?"code":/ },
  { format: "sam-gov", what: "JSON of SAM.gov", mark: /"(noticeId|NoticeId|opportunitiesData)"\s*:/ },
  { format: "grants-gov", what: "an API response of Grants.gov", mark: /"(oppHits|opportunityNumber|synopsis|forecast)"\s*:/ },
  { format: "dsip", what: "an API response of the DoD SBIR/STTR portal", mark: /"(topicId|topicCode|topic_code|questionId)"\s*:/ },
  { format: "sbir-gov", what: "an API response of SBIR.gov", mark: /"solicitation_(agency_url|topics)"\s*:/ },
  { format: "challenge-gov", what: "a list of Challenge.gov", mark: /"details_url"\s*:/ },
];

const csv: readonly Mark[] = [
  { format: "sam-gov", what: "a CSV of SAM.gov", mark: /^"?NoticeId"?,/ },
  { format: "simpler-grants-gov", what: "a CSV of Simpler.Grants.gov", mark: /^.*\bopportunity_id\b.*\bopportunity_status\b/ },
  { format: "dsip", what: "a CSV of the DoD SBIR/STTR portal's topics", mark: /^.*\btopic_number_topiccode\b/ },
  { format: "sbir-gov", what: "a CSV of SBIR.gov's topics", mark: /^.*\bSBIRTopicLink\b/ },
];

/** For the end of a sentence about the file: what it looks like, when that is not of this format; else "". */
export async function hintFor(input: Pick<Input, "name" | "bytes">, format: string): Promise<string> {
  const found = await recognize(input).catch(() => undefined); // A file that cannot be read has its own error.
  if (found === undefined || found.format === format) return "";
  return `; it looks like ${found.what}${found.format === undefined ? "" : `: ${commandFor(found.format, input.name)}`}`;
}

/** To be pasted into a shell. */
export function commandFor(format: string, file: string): string {
  return `fundfeed import ${format} ${/^[\w./:@%+,=-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`}`;
}

/** `undefined` when it looks like nothing that is known. */
export async function recognize(input: Pick<Input, "bytes">): Promise<Recognized | undefined> {
  const head = (await headOf(input)).replace(/^\ufeff/, "").trimStart();
  const marks = head.startsWith("<") ? xml : /^[[{]/.test(head) ? json : csv;
  const found = marks.find(({ mark }) => mark.test(head));
  return found && { what: found.what, ...(found.format !== undefined && { format: found.format }) };
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
