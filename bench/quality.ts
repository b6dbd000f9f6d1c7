/**
 * How well the best match answers: `bun bench/quality.ts DIR`, with a collection of documents, questions and judgements in DIR. Prints
 * nDCG@10, and beside it the same of plain FTS5 (any word, porter, bm25, equal weights), in one run.
 *
 * A collection is `docs.ndjson` ({id, title, text}), `questions.ndjson` ({id, text}) and `judgements.tsv` (question, document, gain), or the
 * three files NAME.ALL, NAME.QRY and NAME.REL of the SMART system.
 */
import { Database } from "bun:sqlite";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openCatalog } from "../db/sqlite/open.ts";
import { exportLines } from "../src/export/records.ts";
import { bestMatches } from "../src/search/best-match.ts";
import { NO_BUDGET } from "../src/search/budget.ts";
import { catchUp } from "../src/search/catch-up.ts";
import { openTemporarySearchFile } from "../src/search/search-file.ts";
import { wordsOf } from "../src/text/words-of.ts";
import { fundfeed, LOAD_CORE, run } from "./processes.ts";
import { table } from "./report.ts";

type Collection = {
  docs: { id: string; title: string; text: string }[];
  questions: { id: string; text: string }[];
  gains: Map<string, Map<string, number>>;
};

const SHOWN = 10;
const [directory = "."] = Bun.argv.slice(2);
const collection = read(directory);
const judged = collection.questions.filter(({ id }) => collection.gains.has(id));
const rows = [
  { Way: "best match", ...summary(await answersOfBestMatch()) },
  { Way: "plain FTS5, any word", ...summary(answersOfFts5()) },
];
process.stdout.write(`${collection.docs.length} documents, ${judged.length} questions with judgements\n\n${table(rows)}\n`);

async function answersOfBestMatch(): Promise<string[][]> {
  const work = mkdtempSync(join(tmpdir(), "fundfeed-quality-"));
  try {
    const lines = collection.docs.map(({ id, title, text }) =>
      JSON.stringify({ source: { code: "COLLECTION", opportunity_id: id }, title: title || "–", description: text }),
    );
    writeFileSync(join(work, "docs.ndjson"), lines.join("\n"));
    await run(LOAD_CORE, [...fundfeed, "import", "records", join(work, "docs.ndjson"), "--data", work]);
    const catalog = openCatalog(work, Date.now());
    const index = openTemporarySearchFile();
    await catchUp(catalog, index);
    const numberOf = new Map<string, string>();
    await exportLines(catalog, {}, (line) => {
      const { id, source } = JSON.parse(line) as { id: string; source: { opportunity_id: string } };
      numberOf.set(id, source.opportunity_id);
    });
    const answers: string[][] = [];
    for (const { text } of judged) {
      const { found } = await bestMatches(catalog, index, { words: text, filter: {}, offset: 0, limit: SHOWN }, Date.now(), NO_BUDGET);
      answers.push(found.map(({ id }) => numberOf.get(id) ?? ""));
    }
    index.close();
    await catalog.close();
    return answers;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
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

function read(directory: string): Collection {
  const names = readdirSync(directory);
  const text = (ending: string) => {
    const name = names.find((each) => each.endsWith(ending) || each.endsWith(`${ending}.gz`));
    if (name === undefined) throw new Error(`${directory} has no file *${ending}`);
    const bytes = readFileSync(join(directory, name));
    return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  };
  if (names.includes("docs.ndjson")) {
    const ndjson = <T>(name: string) =>
      text(name)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as T);
    return { docs: ndjson("docs.ndjson"), questions: ndjson("questions.ndjson"), gains: gainsOf(text("judgements.tsv"), "\t") };
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
