/** `release/probe.ts` against local servers that play each upstream from real files, and each of its known faults. */
import { afterAll, describe, expect, test } from "bun:test";
import { type Probe, probeAll } from "../../release/probe.ts";
import type { ShapeFinding } from "../../release/shape.ts";
import { upstreams } from "../../src/pull/upstreams.ts";
import { dropScratch } from "../support/imports.ts";
import { realFile } from "../support/real-data.ts";
import { zipArchive } from "../support/zip-archive.ts";
import { type Change, players } from "./played.ts";
import { type Asked, extractOf, NOW, PATIENT, type Played, play, playRaw, rawAnswer } from "./upstream.ts";

afterAll(dropScratch);

const SAM_GOV_CSV = "sam-gov/derived/ContractOpportunitiesFullCSV-20260330.reconstructed.csv.gz";
const KEY = "the-key-itself";
const KEYS = Object.fromEntries(upstreams.flatMap(({ keyFrom }) => (keyFrom === undefined ? [] : [[keyFrom, KEY]])));
const names = upstreams.map(({ name }) => name);
const NET = {
  timeouts: PATIENT,
  wait: async () => undefined,
  stop: new AbortController().signal,
  allowHttp: true,
  contact: undefined,
  now: () => NOW,
  random: () => 0,
  progress: () => undefined,
};

const addressOf = (name: string, { base }: { base: string }) => ({ [`FUNDFEED_${name.replaceAll("-", "_").toUpperCase()}_URL`]: base });

/** Probes an upstream with its key, at the time of the played files. */
async function probed(name: string, upstream: { base: string }, net = NET): Promise<Probe> {
  const [probe] = await probeAll([name], net, { ...KEYS, ...addressOf(name, upstream) });
  if (probe === undefined) throw new Error(`${name} was not probed`);
  return probe;
}

/** An upstream; `answer` comes before its own response, and `change` changes the records. */
function playing(
  name: string,
  { answer, change = (text) => text }: { answer?: (asked: Asked) => Response | undefined; change?: Change } = {},
): Played {
  const player = players[name];
  if (player === undefined) throw new Error(`Nothing plays ${name}: add it to tests/pull/played.ts`);
  return play((asked) => answer?.(asked) ?? player(asked, change));
}

describe.each(names)("a probe of %s", (name) => {
  test("finds the upstream as known", async () => {
    const upstream = playing(name);
    const { result, sampled, rejected, fields, newest_age_days } = await probed(name, upstream);
    expect({ result, rejected, fields }).toEqual({ result: "ok", rejected: 0, fields: [] });
    expect(sampled).toBeGreaterThan(0);
    expect(newest_age_days ?? 0).toBeGreaterThanOrEqual(0);
    expect(newest_age_days === null).toBe(name === "nasa-roses"); // Its table names no day.
    expect(upstream.asked.length).toBeLessThanOrEqual(4);
  });

  test("says exactly what it sent, without the key", async () => {
    const upstream = playing(name);
    const { requests } = await probed(name, upstream);
    const sent = requests.map(({ method, url, body }) => [method, new URL(url).pathname, [...new URL(url).searchParams], body]);
    const shown = ([name, value]: [string, string]) => [name, name === "api_key" ? "…" : value];
    expect(sent).toEqual(upstream.asked.map(({ method, path, query, body }) => [method, path, [...query].map(shown), body ?? null]));
    for (const [index, { headers }] of requests.entries()) {
      const sent = Object.fromEntries(upstream.asked[index]?.headers ?? []);
      expect({ ...sent, ...(sent.cookie && { cookie: "…" }), ...(sent["x-api-key"] && { "x-api-key": "…" }) }).toMatchObject(headers);
      expect(headers["user-agent"]).toMatch(/^Mozilla\/5\.0 \(compatible; fundfeed\/\d/);
    }
  });

  const failures: [string, (asked: Asked) => Response, RegExp][] = [
    [
      "a maintenance page with 200",
      () => new Response("<h1>Maintenance</h1>", { headers: { "content-type": "text/html" } }),
      /content type text\/html|not JSON|Cannot find a table/,
    ],
    [
      "a maintenance page that says it is the file",
      ({ path }) => maintenance(path),
      /not JSON|not a ZIP archive|has no column|Cannot find a table/,
    ],
    [
      "an error with 200",
      () => Response.json({ errorcode: 1, msg: "Service unavailable", message: "maintenance" }),
      /errorcode|error code|content type|is not a list|no statuses/,
    ],
    ["a refusal", () => new Response("", { status: 403 }), /it returned 403/],
    [
      "a rate limit",
      () => new Response("", { status: 429, headers: { "retry-after": "3600" } }),
      /it returned 429 and asked to wait 3600 s/,
    ],
    ["an outage", () => new Response("", { status: 503 }), /it returned 503/],
    [
      "a redirect elsewhere",
      () => new Response(null, { status: 302, headers: { location: `https://elsewhere.example/?${KEY}` } }),
      /redirect/,
    ],
  ];
  test.each(failures)("fails for %s, and asks once", async (_, answer, reason) => {
    const upstream = playing(name, { answer });
    const { result, reason: found, requests } = await probed(name, upstream);
    expect(result).toBe("failed");
    expect(found).toMatch(reason);
    expect(upstream.asked.length).toBe(requests.length);
    expect(new Set(requests.map(({ url }) => url)).size).toBe(requests.length);
    expect(JSON.stringify(requests)).not.toContain(KEY);
  });

  test("fails for a response that is cut off", async () => {
    const body = Buffer.from('[{"solicitation_id": 1');
    const head = { "content-type": typeOf(name), "content-length": "100000" };
    const cut = { write: rawAnswer("200 OK", head, body), ending: "end" } as const;
    const upstream = await playRaw([cut, cut]); // The first may be taken for a missing robots.txt.
    expect(await probed(name, upstream)).toMatchObject({
      result: "failed",
      reason: expect.stringMatching(/ended after|closed before|not JSON/),
    });
  });

  test("fails for silence", async () => {
    const upstream = await playRaw([{ write: "", ending: "silence" }]);
    const net = { ...NET, timeouts: { responseMs: 50, silenceMs: 50, totalMs: 60_000 } };
    expect(await probed(name, upstream, net)).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("it did not respond within 0.05 s"),
    });
  });

  test("fails for an upstream that is not there", async () => {
    expect(await probed(name, { base: "http://127.0.0.1:1/" })).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("refused"),
    });
  });

  test.each(Object.entries(shapeFaults(name)))("finds %s", async (_, { change, found, result = "changed" }) => {
    const probe = await probed(name, playing(name, { change }));
    expect(probe).toMatchObject({ result, reason: null });
    expect(probe.fields).toContainEqual(found);
  });

  test("finds a list without records", async () => {
    expect(await probed(name, playing(name, { answer: emptyOf(name) }))).toMatchObject({ result: "empty", sampled: 0 });
  });
});

describe("a probe", () => {
  test("takes each upstream in turn, and skips those whose key is missing", async () => {
    const addresses = Object.assign({}, ...names.map((name) => addressOf(name, playing(name))));
    expect((await probeAll([], NET, addresses)).map(({ source, result }) => [source, result])).toEqual(
      names.map((name) => [name, upstreams.find((each) => each.name === name)?.keyFrom === undefined ? "ok" : "skipped"]),
    );
  });

  test("requires https", async () => {
    const { reason } = await probed("sbir-gov", { base: "http://127.0.0.1:1/" }, { ...NET, allowHttp: false });
    expect(reason).toContain("is not https");
  });

  test("refuses an upstream that it does not know", async () => {
    await expect(probeAll(["challenge-gov"], NET, {})).rejects.toThrow("Cannot probe challenge-gov: the upstreams are grants-gov, ");
  });

  test("counts records that an import would reject", async () => {
    const change: Change = (text) => text.replaceAll(/("solicitation_title":)"/g, '$1"\\u0000');
    const probe = await probed("sbir-gov", playing("sbir-gov", { change }));
    expect(probe).toMatchObject({ result: "changed", reasons: [expect.stringContaining("NUL")] });
    expect(probe.rejected).toBe(probe.sampled);
  });

  test("reads only the beginning of a file whose server ignores ranges", async () => {
    const once = realFile(SAM_GOV_CSV);
    const csv = Buffer.concat([once, ...Array.from({ length: 20 }, () => once.subarray(once.indexOf("\n") + 1))]);
    const upstream = play(() => new Response(csv, { headers: { "content-type": "text/csv" } }));
    const { result, sampled } = await probed("sam-gov", upstream);
    expect(result).toBe("ok");
    expect(sampled).toBeLessThan(400);
  });

  test("walks back to the newest extract", async () => {
    const upstream = play(({ path }) =>
      path.includes("20260730") ? new Response(extractOf("20260730"), { headers: { "content-type": "application/zip" } }) : undefined,
    );
    expect(await probed("grants-gov", upstream)).toMatchObject({ result: "ok", newest_on: "2026-07-30", newest_age_days: 4 });
    expect(upstream.asked).toHaveLength(5);
  });
});

function maintenance(path: string): Response {
  const type = /\.(zip|csv)$/.test(path) ? "application/octet-stream" : /table3|\.do$/.test(path) ? "text/html" : "application/json";
  return new Response("<h1>Maintenance</h1>", { headers: { "content-type": type } });
}

function typeOf(name: string): string {
  if (name.startsWith("nasa-")) return "text/html";
  return ["grants-gov", "sam-gov"].includes(name) ? "application/octet-stream" : "application/json";
}

type ShapeFault = { change: Change; found: ShapeFinding; result?: "ok" | "changed" };

/** A field of each upstream's records, the same field with a value of another type, and that type. */
const FIELDS: Readonly<
  Record<string, { field: string; path?: string; value: RegExp; other: string; type: [expected: string, found: string] }>
> = {
  "grants-gov": {
    field: "PostDate",
    path: "OpportunitySynopsisDetail_1_0: PostDate",
    value: />(\d\d)(\d\d)(\d{4})</g,
    other: ">$3-$1-$2<",
    type: ["digits", "date 9999-99-99"],
  },
  "grants-gov-search": {
    field: "openDate",
    value: /"(\d\d)\/(\d\d)\/(\d{4})"/g,
    other: '"$3-$1-$2"',
    type: ["date 99/99/9999", "date 9999-99-99"],
  },
  "grants-gov-details": {
    field: "synopsisDesc",
    path: "synopsis.synopsisDesc",
    value: /("synopsisDesc":)"(?:[^"\\]|\\.)*"/g,
    other: "$1 7",
    type: ["text", "number"],
  },
  "simpler-grants-gov": {
    field: "post_date",
    path: "summary.post_date",
    value: /("post_date": ?)"(\d{4})-(\d\d)-(\d\d)"/g,
    other: '$1"$3/$4/$2"',
    type: ["date 9999-99-99", "date 99/99/9999"],
  },
  "sam-gov": { field: "PostedDate", value: /"(\d{4})-(\d\d)-(\d\d) /g, other: '"$2/$3/$1 ', type: ["date 9999-99-99", "date 99/99/9999"] },
  "sam-gov-api": { field: "title", value: /("title":)"[^"]*"/g, other: "$1 [7]", type: ["text", "number"] },
  "sbir-gov": { field: "solicitation_number", value: /("solicitation_number":)"[^"]*"/g, other: "$1 7", type: ["text", "number"] },
  darpa: {
    field: "field_close_date",
    value: /("field_close_date":)"(\d{4})-(\d\d)-(\d\d)"/g,
    other: '$1"$3/$4/$2"',
    type: ["date 9999-99-99", "date 99/99/9999"],
  },
  "nasa-nspires": {
    field: "release_date",
    value: /("release_date":)"(\d{4})-(\d\d)-(\d\d)"/g,
    other: '$1"$3/$4/$2"',
    type: ["date 9999-99-99", "date 99/99/9999"],
  },
  dsip: { field: "topicStartDate", value: /("topicStartDate":)\d+/g, other: '$1"2026-08-01"', type: ["number", "date 9999-99-99"] },
};

function shapeFaults(name: string): Record<string, ShapeFault> {
  if (name === "nasa-roses") {
    const found: ShapeFinding = { field: "url", problem: "empty", expected: "always", found: null };
    return { "programs without links": { change: (text) => text.replaceAll(/ href="[^"]*"/g, ""), found } };
  }
  const fact = FIELDS[name];
  if (fact === undefined) throw new Error(`Nothing changes ${name}: add a field to FIELDS`);
  const { field, path = field, value, other, type } = fact;
  const [expected, found] = type;
  const isXml = name === "grants-gov";
  const isCsv = name === "sam-gov";
  const renamed: Change = (text) =>
    isXml
      ? text.replaceAll(new RegExp(`(</?)${field}>`, "g"), `$1${field}New>`)
      : isCsv
        ? text.replace(`"PostedOn"`, "").replace(`"${field}"`, '"PostedOn"')
        : text.replaceAll(`"${field}":`, `"${field}New":`);
  const added: Change = (text) =>
    isXml
      ? text.replaceAll(`<${field}>`, `<Brand_new>x</Brand_new><${field}>`)
      : isCsv
        ? text.replace(/^/, '"brand_new",').replaceAll(/("\r?\n)(?="[^"])/g, '$1"x",')
        : text.replaceAll(`"${field}":`, `"brand_new":"x","${field}":`);
  const newField = isXml ? path.replace(field, "Brand_new") : path.replace(field, "brand_new");
  return {
    "a field of another type": {
      change: (text) => text.replaceAll(value, other),
      found: { field: path, problem: "type", expected, found },
    },
    "a new field, which is no fault": {
      change: added,
      found: { field: newField, problem: "new", expected: null, found: "text" },
      result: "ok",
    },
    ...(isCsv
      ? {}
      : { "a renamed field": { change: renamed, found: { field: path, problem: "missing", expected: expect.any(String), found: null } } }),
  };
}

function emptyOf(name: string): (asked: Asked) => Response | undefined {
  if (name === "grants-gov")
    return () => new Response(zipArchive("extract.xml", Buffer.from("<Grants/>")), { headers: { "content-type": "application/zip" } });
  if (name === "sam-gov")
    return () => new Response(realFile(SAM_GOV_CSV).toString().split("\n", 1)[0], { headers: { "content-type": "text/csv" } });
  if (name === "nasa-roses") {
    const head = "<title>ROSES-2025 Table 3</title><table><tr><th>APPENDIX<th>PROGRAM<th>NOI<th>Due</table>";
    return ({ path }) => (path === "/ROSES2025table3" ? new Response(head, { headers: { "content-type": "text/html" } }) : undefined);
  }
  const empty: Record<string, (asked: Asked) => unknown> = {
    darpa: ({ path }) => (path === "/opportunity.json" ? [] : undefined),
    "nasa-nspires": ({ path }) => (path === "/solicitationsJSON.do" ? { aaData: [] } : undefined),
    "grants-gov-search": () => ({ errorcode: 0, data: { hitCount: 0, oppHits: [] } }),
    "grants-gov-details": () => ({ errorcode: 0, data: { hitCount: 0, oppHits: [] } }),
    "simpler-grants-gov": ({ path, headers }) => {
      const download_path = `http://${headers.get("host")}/files/extract.json`;
      if (path === "/extracts") return { data: [{ download_path, created_at: "2026-06-17T09:00:12+00:00" }] };
      if (path.startsWith("/files/")) return { metadata: { file_generated_at: "2026-06-17_05-00-12" }, opportunities: [] };
      return { data: [], facet_counts: { opportunity_status: {} }, pagination_info: { total_records: 0 }, status_code: 200 };
    },
    "sam-gov-api": () => ({ totalRecords: 0, opportunitiesData: [] }),
    "sbir-gov": () => [],
    dsip: ({ path }) => (path.endsWith("/search") ? { total: 0, data: [] } : undefined),
  };
  return (asked) => {
    const value = empty[name]?.(asked);
    return value === undefined ? undefined : Response.json(value);
  };
}

describe("a probe of simpler-grants-gov", () => {
  test("asks for the newest extract, its beginning, a page of a search and the details of one", async () => {
    const upstream = playing("simpler-grants-gov");
    const { total, newest_on, newest_age_days } = await probed("simpler-grants-gov", upstream);
    expect([total, newest_on, newest_age_days]).toEqual([24, "2026-06-17", 47]);
    expect(upstream.asked.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, "ID")}`)).toEqual([
      "POST /extracts",
      "GET /files/opportunity-data-extracts/opportunity_data-2026-06-17_05-00-12.json",
      "POST /opportunities/search",
      "GET /opportunities/ID",
    ]);
  });

  test("fails if there is no extract of the last days", async () => {
    const upstream = playing("simpler-grants-gov", {
      answer: ({ path }) => (path === "/extracts" ? Response.json({ data: [] }) : undefined),
    });
    expect(await probed("simpler-grants-gov", upstream)).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("it lists no extract of the last days"),
    });
  });
});
