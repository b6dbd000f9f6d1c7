/** `changes --cursor-file`, killed again and again while events are stored: every event is printed, none is skipped, in the order of storing. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { program, QUICK } from "../support/binary.ts";
import { outputOf } from "../support/clocked-program.ts";
import { aCatalog, aDirectory, dropScratch, NOON, SECOND } from "../support/imports.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { rawSql } from "../support/sql.ts";

/** FUNDFEED_KILLS=200 for a thorough run. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 5);
const RECORDS = 1500;

setDefaultTimeout(600_000);
afterAll(dropScratch);

test("changes --cursor-file", async () => {
  const random = randomIntegers(Date.now());
  const directory = aDirectory();
  const db = openCatalog(directory, NOON);
  const { take, takeEvents, clock } = await aCatalog(db);
  const source = (n: number) => ({ code: "OWN", opportunity_id: `N${n}` });
  const store = async (round: number) => {
    clock.now += SECOND;
    const records = Array.from({ length: RECORDS }, (_, n) => ({ source: source(n), title: `Title ${n} of round ${round}` }));
    await take(round === 0 ? records : records.slice(0, 300));
    await takeEvents([{ source: source(random(RECORDS)), type: "x", severity: "x", detected_at: `200${random(10)}-01-01T00:00:00Z` }]);
  };
  await store(0);

  const [cursor, file] = [join(aDirectory(), "cursor"), join(aDirectory(), "out.ndjson")];
  const args = ["changes", "--since", "all", "--at-least", "noise", "--format", "ndjson", "--data", directory, "--cursor-file", cursor];
  const seen = new Set<string>();
  /** Takes over what a run has printed. A line that a kill has cut off does not count. */
  const takeOver = (text: string) => {
    const lines = text.split("\n").slice(0, -1);
    for (const line of lines) seen.add(JSON.parse(line).id);
    return lines.length;
  };
  let midway = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    // While it prints, or, if it writes a file, at any time.
    const isPrinting = kill % 3 > 0;
    const out = await runUntil(isPrinting ? args : [...args, "-o", file], isPrinting ? { bytes: random(400_000) } : { ms: random(1000) });
    if (takeOver(out) > 0) midway++;
    if (existsSync(file)) takeOver(readFileSync(file, "utf8"));
    rmSync(file, { force: true });
    if (kill % 2 === 0) await store(kill + 1);
  }
  expect(midway).toBeGreaterThan(0);
  takeOver(await outputOf(args));

  const stored = await db.all(rawSql<{ id: string }>("select id from events order by seq"));
  expect([...seen]).toEqual(stored.map(({ id }) => id)); // A set keeps the order in which its members first came.
  await db.close();
});

/** Runs the program, kills it after it has printed so much or run so long, and returns what it had printed by then. */
async function runUntil(args: readonly string[], { bytes, ms }: { bytes?: number; ms?: number }): Promise<string> {
  const child = Bun.spawn([program, ...args], { env: { ...process.env, ...QUICK }, stdout: "pipe", stderr: "inherit" });
  const timer = ms === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), ms);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of child.stdout) {
    pieces.push(piece);
    length += piece.length;
    if (bytes !== undefined && length > bytes) child.kill("SIGKILL");
  }
  clearTimeout(timer);
  await child.exited;
  return Buffer.concat(pieces).toString();
}
