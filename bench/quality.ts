/**
 * How well the best match answers: `bun bench/quality.ts DIR`, with a collection of documents, questions and judgements in DIR. Prints
 * nDCG@10, and beside it the same of plain FTS5 (any word, porter, bm25, equal weights), in one run. With `--data DATA`, the documents are the
 * records of a data directory, named by source and number: `bun bench/quality.ts bench/questions --data DATA`. What nobody judged counts as
 * irrelevant.
 *
 * A collection is `docs.ndjson` ({id, title, text}), `questions.ndjson` ({id, text}) and `judgements.tsv` (question, document, gain), or the
 * three files NAME.ALL, NAME.QRY and NAME.REL of the SMART system.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import type { CatalogDb } from "../db/engine.ts";
import { openCatalog } from "../db/sqlite/open.ts";
import { exportLines } from "../src/export/records.ts";
import { textsOf } from "../src/filter/texts.ts";
import type { WholeOpportunity } from "../src/opportunities/opportunity.ts";
import { readOpportunities } from "../src/opportunities/records.ts";
import { bestMatches } from "../src/search/best-match.ts";
import { UNLIMITED } from "../src/search/budget.ts";
import { catchUp } from "../src/search/catch-up.ts";
import { openTemporarySearchFile } from "../src/search/search-file.ts";
import { wordsOf } from "../src/text/words-of.ts";
import { fundfeed, LOAD_CORE, run } from "./processes.ts";
import { table } from "./report.ts";

type Collection = {
  docs: { id: string; title: string; text: string }[];
  /** Where the documents are records of. */
  catalog?: CatalogDb;
  questions: { id: string; text: string }[];
  gains: Map<string, Map<string, number>>;
};

const SHOWN = 10;
/** The day of the judgements: some records were open then. */
const NOW = Date.UTC(2026, 7, 1, 12);
const { values, positionals } = parseArgs({ options: { data: { type: "string" } }, allowPositionals: true });
const collection = await read(positionals[0] ?? ".", values.data);
const judged = collection.questions.filter(({ id }) => collection.gains.has(id));
const rows = [
  { Way: "best match", ...summary(await answersOfBestMatch()) },
  { Way: "plain FTS5, any word", ...summary(answersOfFts5()) },
];
process.stdout.write(`${collection.docs.length} documents, ${judged.length} questions with judgements\n\n${table(rows)}\n`);

async function answersOfBestMatch(): Promise<string[][]> {
  if (collection.catalog !== undefined) return answersIn(collection.catalog);
  const work = mkdtempSync(join(tmpdir(), "fundfeed-quality-"));
  try {
    const lines = collection.docs.map(({ id, title, text }) =>
      JSON.stringify({ source: { code: "COLLECTION", opportunity_id: id }, title: title || "–", description: text }),
    );
    writeFileSync(join(work, "docs.ndjson"), lines.join("\n"));
    await run(LOAD_CORE, [...fundfeed, "import", "records", join(work, "docs.ndjson"), "--data", work]);
    return await answersIn(openCatalog(work, Date.now()));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function answersIn(catalog: CatalogDb): Promise<string[][]> {
  const index = openTemporarySearchFile();
  await catchUp(catalog, index, undefined, NOW);
  const answers: string[][] = [];
  for (const { text } of judged) {
    const request = { words: text, filter: {}, offset: 0, limit: SHOWN };
    const { found } = await bestMatches(catalog, index, request, NOW, UNLIMITED);
    const ids = found.map(({ id }) => id);
    answers.push((await readOpportunities(catalog, ids, NOW)).map(nameOf));
  }
  index.close();
  await catalog.close();
  return answers;
}

/** The name of a document: that of a collection has its own, that of a record its source and number. */
function nameOf({ source }: WholeOpportunity): string {
  return source.code === "COLLECTION" ? source.opportunity_id : `${source.code} ${source.opportunity_id}`;
}

function answersOfFts5(): string[][] {
  const sqlite = new Database(":memory:");
  sqlite.run("create virtual table docs using fts5 (title, text, tokenize = 'porter unicode61 remove_diacritics 2')");
  const insert = sqlite.query("insert into docs (rowid, title, text) values (?, ?, ?)");
  collection.docs.forEach(({ title, text }, n) => {
    insert.run(n, title, text);
  });
  const find = sqlite.query<unknown, [string, number]>("select rowid from docs where docs match ? order by bm25(docs) limit ?");
  return judged.map(({ text }) => {
    const query = [...new Set(wordsOf(text))].map((word) => `"${word}"`).join(" OR ");
    return (find.values(query, SHOWN) as [number][]).map(([n]) => collection.docs[n]?.id ?? "");
  });
}

function summary(answers: readonly string[][]): { [column: string]: string | number } {
  const scores = answers.map((found, n) => {
    const gains = collection.gains.get(judged[n]?.id ?? "") ?? new Map<string, number>();
    return dcg(found.map((id) => gains.get(id) ?? 0)) / dcg([...gains.values()].sort((a, b) => b - a));
  });
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return { [`nDCG@${SHOWN}`]: mean.toFixed(3), "Without a result": answers.filter((found) => found.length === 0).length };
}

function dcg(gains: readonly number[]): number {
  return gains.slice(0, SHOWN).reduce((sum, gain, n) => sum + gain / Math.log2(n + 2), 0);
}

async function read(directory: string, data: string | undefined): Promise<Collection> {
  const names = readdirSync(directory);
  const text = (ending: string) => {
    const name = names.find((each) => each.endsWith(ending) || each.endsWith(`${ending}.gz`));
    if (name === undefined) throw new Error(`${directory} has no file *${ending}`);
    const bytes = readFileSync(join(directory, name));
    return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  };
  if (names.includes("questions.ndjson")) {
    const ndjson = <T>(name: string) =>
      text(name)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as T);
    const asked = { questions: ndjson<Collection["questions"][number]>("questions.ndjson"), gains: gainsOf(text("judgements.tsv"), "\t") };
    if (data === undefined) return { docs: ndjson("docs.ndjson"), ...asked };
    const catalog = openCatalog(data, NOW);
    const docs: Collection["docs"] = [];
    const ids: string[] = [];
    await exportLines(catalog, {}, (line) => void ids.push((JSON.parse(line) as { id: string }).id));
    for (let at = 0; at < ids.length; at += 500)
      for (const record of await readOpportunities(catalog, ids.slice(at, at + 500), NOW))
        docs.push({ id: nameOf(record), title: record.title, text: textsOf(record).join("\n") });
    return { docs, catalog, ...asked };
  }
  const fields = (record: string, name: string) =>
    new RegExp(`^\\.${name}\\n([\\s\\S]*?)(?=^\\.[A-Z]\\b|$(?![\\s\\S]))`, "m").exec(record)?.[1]?.trim() ?? "";
  const records = (ending: string) =>
    text(ending)
      .split(/^\.I /m)
      .slice(1)
      .map((record) => ({ id: String(Number.parseInt(record, 10)), record }));
  return {
    docs: records(".ALL").map(({ id, record }) => ({ id, title: fields(record, "T"), text: fields(record, "W") })),
    questions: records(".QRY").map(({ id, record }) => ({ id, text: [fields(record, "T"), fields(record, "W")].join(" ").trim() })),
    gains: gainsOf(text(".REL"), undefined),
  };
}

function gainsOf(text: string, separator: string | undefined): Map<string, Map<string, number>> {
  const gains = new Map<string, Map<string, number>>();
  for (const line of text.trim().split("\n")) {
    const [question = "", document = "", gain] = line.trim().split(separator ?? /\s+/);
    const own = gains.get(question) ?? new Map<string, number>();
    gains.set(question, own.set(document, separator === undefined ? 1 : Number(gain)));
  }
  return gains;
}
