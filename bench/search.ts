/**
 * The search index, questions beside FTS5's own ranking (any word, `bm25()`) of the same index, and the exports: `bun bench/search.ts 100000`, or with `--data DIR` on a copy of a data directory, `--word` and `--number` being in its records. `--part` measures only one of
 * them. Times are CPU seconds and milliseconds of this process or of the command, because other work shares the machine.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openCatalog } from "../db/sqlite/open.ts";
import { type Filter, readFilter } from "../src/filter/filter.ts";
import { UNLIMITED } from "../src/search/budget.ts";
import { catchUp } from "../src/search/catch-up.ts";
import { anyOf } from "../src/search/common-rows.ts";
import { type Sort, search } from "../src/search/search.ts";
import { openSearchFile, type SearchFile } from "../src/search/search-file.ts";
import { wordsOf } from "../src/text/words-of.ts";
import { cpuMsOf } from "../tests/support/cpu-time.ts";
import { generatedCatalog } from "./catalog.ts";
import { randomOf } from "./generate.ts";
import { fundfeed, LOAD_CORE, runMeasured } from "./processes.ts";
import { quantile, round, table } from "./report.ts";
import { shortCatalog } from "./short-catalog.ts";

const CHANGED = 1000;
const RUNS = 7;
const QUESTIONS = 100;
/** Of FTS5's own ranking, which takes minutes for some of them at ten million. */
const PEER_QUESTIONS = 3;
const LIMIT = 20;
/** As a page counts. */
const COUNTED = 10_000;
/** A larger catalog has short records. */
const SHORT_ABOVE = 1_000_000;

const { values, positionals } = parseArgs({
  options: {
    data: { type: "string" },
    part: { type: "string" },
    word: { type: "string", default: "energy" },
    number: { type: "string", default: "SAM-25-0000745" },
  },
  allowPositionals: true,
});
const { word, number } = values;

/** What people ask. Generated texts have some fifty words, so a word of them is in most records: the worst case. */
const questions: readonly (readonly [what: string, json: object, sort?: Sort])[] = [
  ["everything, newest first", {}],
  ["everything, next deadline first", {}, "closes"],
  ["open at one agency", { status: ["open"], agency: "energy" }],
  ["a number", { words: number }],
  ["a word of most records, by relevance", { words: word }],
  ["a word of most records, by deadline", { words: word }, "closes"],
  ["two words and three filters", { words: `water ${word}`, status: ["open"], naics: ["54"], min_amount: "250000" }],
  ["NAICS and amount", { naics: ["5417"], min_amount: "1000000" }, "amount"],
];

const records = Number(positionals[0] ?? 100_000);
const source = values.data ?? (await (records > SHORT_ABOVE ? shortCatalog : generatedCatalog)(records));
const work = mkdtempSync(join(process.env.FUNDFEED_BENCH ?? tmpdir(), "fundfeed-search-"));
try {
  if (values.part !== "exports") await measureSearch(source, work);
  if (values.part !== "search") await measureExports(source, work);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function measureSearch(source: string, work: string): Promise<void> {
  const catalog = openCatalog(source, Date.now());
  const index = openSearchFile(work);
  const [begun, before] = [performance.now(), bytesWritten()];
  const build = await cpuMsOf(() => catchUp(catalog, index));
  const bytes = statSync(join(work, "search.db")).size;
  const built = [
    {
      records: count(index),
      "build, CPU s": round(build / 1000),
      "build, s": round((performance.now() - begun) / 1000),
      "written / size": round((bytesWritten() - before) / bytes),
    },
  ];
  const megabytes = bytes / 1e6;
  const catchUps = [];
  for (let run = 0; run < RUNS; run++) {
    forgetNewest(index);
    catchUps.push(await cpuMsOf(() => catchUp(catalog, index)));
  }
  const caughtUp = `${round(median(catchUps))}, ${round(Math.max(...catchUps))}`;
  print(built.map((row) => ({ ...row, "search.db, MB": round(megabytes), [`catch-up of ${CHANGED}, p50, worst, CPU ms`]: caughtUp })));
  const times = [];
  for (const [what, json, sort] of questions) times.push({ what, ...(await timesOf(catalog, index, readFilter(json, what), sort)) });
  print(
    times.map(({ what, total, first, next }) => ({
      search: what,
      found: total,
      "p50, ms": round(median(first)),
      "worst, ms": round(Math.max(...first)),
      "next page, p50": round(median(next)),
    })),
  );
  const asked = [];
  for (const [what, questionOf] of askedAtRandom(catalog, index))
    asked.push({ question: what, ...(await comparedWithFts5(catalog, index, questionOf)) });
  print(asked);
  index.close();
  await catalog.close();
}

/** Takes the position back by so many records: catching up then replaces them, as it does after an import that changed them. */
function forgetNewest({ sqlite }: SearchFile): void {
  sqlite.run(
    `update progress set is_checked = 0, (stored_at, id) =
      (select stored_at, id from records order by stored_at desc, id desc limit 1 offset ${CHANGED})`,
  );
}

function count({ sqlite }: SearchFile): number {
  return sqlite.query<{ records: number }, []>("select count(*) as records from records").get()?.records ?? 0;
}

type Catalog = ReturnType<typeof openCatalog>;

async function timesOf(catalog: Catalog, index: SearchFile, filter: Filter, sort: Sort | undefined) {
  const [first, next]: [number[], number[]] = [[], []];
  const now = Date.UTC(2026, 7, 1);
  const request = { filter, sort, limit: LIMIT, countAtMost: COUNTED, budget: UNLIMITED };
  const page = await search(catalog, index, request, now);
  const { next: after } = page;
  for (let run = 0; run < RUNS; run++) {
    first.push(await cpuMsOf(() => search(catalog, index, request, now)));
    if (after !== null) next.push(await cpuMsOf(() => search(catalog, index, { ...request, after }, now)));
  }
  return { total: page.total, first, next };
}

function bytesWritten(): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

/** Questions by their number. Titles and texts come from the catalog; the commonest words are the worst case. */
function askedAtRandom(catalog: Catalog, { sqlite }: SearchFile): [what: string, questionOf: (n: number) => string][] {
  const { last } = catalog.sqlite.query<{ last: number }, []>("select max(seq) as last from opportunities").get() ?? { last: 0 };
  const byRow = catalog.sqlite.query<{ document: Uint8Array }, [number]>("select document from opportunities where seq = ?");
  const wordsOfRecord = (
    n: number,
    least: number,
    most: number,
    texts: (record: { title: string; description: string | null }) => string,
  ) => {
    const random = randomOf(1, n);
    const { document } = byRow.get(1 + Math.floor(random() * last)) ?? {};
    const words = wordsOf(texts(JSON.parse(new TextDecoder().decode(document))));
    return Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, () => words[Math.floor(random() * words.length)]).join(
      " ",
    );
  };
  const common = sqlite
    .query<{ word: string }, []>("select word from words where length(word) > 4 order by records desc limit 60")
    .all()
    .map(({ word }) => word);
  const rare = sqlite.query<{ word: string }, []>("select word from words where records >= 5 order by records limit 5000").all();
  return [
    ["two to five words of a title", (n) => wordsOfRecord(n, 2, 5, ({ title }) => title)],
    ["two to twelve words of a record", (n) => wordsOfRecord(n, 2, 12, ({ title, description }) => `${title} ${description ?? ""}`)],
    [
      "a common word and two rare ones",
      (n) => `${common[n % 60]} ${rare[(n * 97) % rare.length]?.word} ${rare[(n * 331) % rare.length]?.word}`,
    ],
    ["eight of the sixty commonest words", (n) => Array.from({ length: 8 }, (_, k) => common[(n * 7 + k * 11) % 60]).join(" ")],
    ["twelve of them", (n) => Array.from({ length: 12 }, (_, k) => common[(n * 7 + k * 5) % 60]).join(" ")],
  ];
}

async function comparedWithFts5(catalog: Catalog, index: SearchFile, questionOf: (n: number) => string) {
  const [ours, fts5]: [number[], number[]] = [[], []];
  const ranked = index.sqlite.query("select rowid from texts where texts match ? order by bm25(texts) limit ?");
  for (let n = 0; n < QUESTIONS; n++) {
    const words = questionOf(n);
    ours.push(await cpuMsOf(() => search(catalog, index, { filter: { words }, limit: LIMIT, budget: UNLIMITED }, Date.UTC(2026, 7, 1))));
    if (n < PEER_QUESTIONS) fts5.push(await cpuMsOf(() => ranked.all(anyOf(wordsOf(words)), LIMIT)));
  }
  return { "p50, ms": round(median(ours)), "p99, ms": round(quantile(ours, 0.99)), "FTS5 with bm25, p50": round(median(fts5)) };
}

function median(times: readonly number[]): number {
  return times.length === 0 ? 0 : quantile(times, 0.5);
}

async function measureExports(source: string, work: string): Promise<void> {
  const file = join(work, "export.sqlite");
  const exports = { ndjson: [], csv: ["--format", "csv"], sqlite: ["--format", "sqlite", file] };
  const rows = [];
  for (const [format, args] of Object.entries(exports)) {
    const { cpuSeconds, seconds, peakBytes } = await runMeasured(LOAD_CORE, [...fundfeed, "export", "--data", source, ...args]);
    const size = format === "sqlite" ? round(statSync(file).size / 1e6) : "–";
    rows.push({
      export: format,
      "CPU s": round(cpuSeconds),
      s: round(seconds),
      "peak memory, MB": round(peakBytes / 1e6),
      "file, MB": size,
    });
  }
  print(rows);
}

function print(rows: Parameters<typeof table>[0]): void {
  process.stdout.write(`${table(rows)}\n\n`);
}
