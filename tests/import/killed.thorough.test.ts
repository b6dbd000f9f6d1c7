/**
 * An import of a real file, killed with SIGKILL at random points or cut off from PostgreSQL as it commits, and run again: nothing lost,
 * nothing twice, the same end (D-33).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { openPostgres } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { outputOf, run } from "../support/clocked-program.ts";
import { fundfeed } from "../support/command-line.ts";
import { extractOfFew } from "../support/few-grants.ts";
import { aDirectory, contentsOf, dropScratch } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { describeReal, EXCERPTS, realPath } from "../support/real-data.ts";

/** FUNDFEED_KILLS=50 is what the project promises, of each file. One is enough here: its point is another one in each run. */
const isThorough = process.env.FUNDFEED_KILLS !== undefined;
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 1);

afterAll(dropScratch);

const NOTHING = "nothing";
type Killed = readonly [format: string, earlier: string, later: string];

const grants = (day: string) => `grants-gov/derived/GrantsDBExtract${day}v2.reconstructed.xml.gz`;

/** The file of a name. Of an extract, a seventh in a run that is not thorough. */
function fileOf(name: string, directory = EXCERPTS): string {
  const [, day] = /GrantsDBExtract(\d+)/.exec(name) ?? [];
  return day === undefined || isThorough ? realPath(name, directory) : extractOfFew(day, 7);
}

const notices = (day: string) => `sam-gov/derived/ContractOpportunitiesFullCSV-${day}.reconstructed.csv.gz`;

/** What is there before, and what is killed: additions, changes and removals, and the first of all, in which nothing is looked up. */
const importsOfGrants: readonly Killed[] = [
  ["grants-gov", grants("20260726"), grants("20260803")],
  ["grants-gov", NOTHING, grants("20250821")],
];
const importsOfNotices: readonly Killed[] = [
  ["sam-gov", notices("20260330"), notices("20260425")],
  ["sam-gov", NOTHING, isThorough ? notices("20260425") : "sam-gov/daily/records-20260425.json"],
];

async function contentsIn(directory: string): Promise<string> {
  const db = openCatalog(directory, 0);
  const contents = await contentsOf(db);
  await db.close();
  return contents;
}

const SECOND_AS_OF = "2026-05-02T00:00:00.000Z";

/** Whether the second import has finished. Killed between that and its exit, it is done: its instant would be refused (D-31). */
async function isFinished(...place: readonly string[]): Promise<boolean> {
  const { code, out, err } = await fundfeed(["imports", "list", "--json", ...place]);
  if (code === 1 && err.includes("no fundfeed data in")) return false; // Killed before it had made a catalog.
  const listed = JSON.parse(out) as { as_of: string; finished_at: string | null }[];
  return listed.some(({ as_of, finished_at }) => as_of === SECOND_AS_OF && finished_at !== null);
}

const all = [...importsOfGrants, ...importsOfNotices];
/** One on data that is there, and one that is the first; a thorough run has both of each source. */
describe("an import", () => testKilled(isThorough ? all : [...importsOfGrants.slice(0, 1), ...importsOfNotices.slice(1)], EXCERPTS));

describeReal("an import of the full files", (directory) => testKilled(importsOfNotices, directory));

function testKilled(imports: readonly Killed[], directory: string): void {
  describe.each(imports)("of %s after %s that is killed", (format, earlier, later) => {
    const from = (name: string, asOf: string) => ["import", format, fileOf(name, directory), "--as-of", asOf];
    const first = (data: string) => [...from(earlier, "2026-05-01T00:00:00Z"), "--data", data];
    const second = (data: string) => [...from(later, SECOND_AS_OF), "--snapshot", "--allow-removals", "--data", data];

    test(`at ${KILLS} random points ends as if it had not been`, async () => {
      const before = aDirectory();
      if (earlier !== NOTHING) await outputOf(first(before));
      const copied = () => {
        const directory = aDirectory();
        cpSync(before, directory, { recursive: true });
        return directory;
      };
      const whole = copied();
      const started = performance.now();
      await outputOf(second(whole));
      const tookMs = performance.now() - started;
      const expected = await contentsIn(whole);

      for (let killed = 0; killed < KILLS; ) {
        const data = copied();
        for (let again = true; again; ) {
          const { code, err } = await run(second(data), { killAfterMs: Math.random() * tookMs });
          if (code === null) killed++;
          else expect({ code, err }).toEqual({ code: 0, err: expect.any(String) });
          const isLeft = code === null && !(await isFinished("--data", data));
          again = isLeft && killed < KILLS && Math.random() < 0.3; // Killed again while it is run again.
          if (isLeft && !again) await outputOf(second(data));
        }
        expect((await contentsIn(data)) === expected).toBe(true);
        expect((await fundfeed(["check", "--data", data])).out).toBe("No problems found\n");
        rmSync(data, { recursive: true });
      }
    }, 600_000);
  });
}

describe.if(hasPostgres)("an import into PostgreSQL", () => {
  const [earlier, later] = [grants("20260726"), grants("20260803")];
  const first = (url: string) => ["import", "grants-gov", fileOf(earlier), "--as-of", "2026-05-01T00:00:00Z", "--database", url];
  /** Additions and changes in one transaction, removals in another. */
  const second = (url: string) => [
    ...["import", "grants-gov", fileOf(later), "--snapshot", "--allow-removals"],
    ...["--as-of", SECOND_AS_OF, "--database", url],
  ];
  let before: string;
  let expected: string;
  let tookMs: number;

  const copied = async () => {
    const { command, url } = await postgresServer();
    const name = `killed_${crypto.randomUUID().replaceAll("-", "")}`;
    await command(`create database ${name} template ${new URL(before).pathname.slice(1)}`);
    return url(name);
  };
  const contentsAt = async (url: string) => {
    const db = await openPostgres("catalog", url, 0, { connections: 1 });
    const contents = await contentsOf(db);
    await db.close();
    return contents;
  };
  const expectSameEnd = async (url: string) => {
    expect((await contentsAt(url)) === expected).toBe(true);
    expect((await fundfeed(["check", "--database", url])).out).toBe("No problems found\n");
    expect(JSON.parse((await fundfeed(["imports", "list", "--json", "--database", url])).out)).toHaveLength(2);
  };

  beforeAll(async () => {
    before = await (await postgresServer()).freshDatabase();
    await outputOf(first(before));
    const whole = await copied();
    const started = performance.now();
    await outputOf(second(whole));
    tookMs = performance.now() - started;
    expected = await contentsAt(whole);
  });

  test(`that is killed at ${KILLS} random points ends as if it had not been`, async () => {
    for (let killed = 0; killed < KILLS; ) {
      const url = await copied();
      for (let again = true; again; ) {
        const { code } = await run(second(url), { killAfterMs: Math.random() * tookMs });
        if (code === null) killed++;
        const isLeft = code === null && !(await isFinished("--database", url));
        again = isLeft && killed < KILLS && Math.random() < 0.3; // Killed again while it is run again.
        if (isLeft && !again) await outputOf(second(url));
      }
      await expectSameEnd(url);
    }
  }, 600_000);

  test.each([
    [1, "after"],
    [2, "before"],
  ] as const)("whose connections break as it sends its commit %i, %s it is made, ends as if they had not", async (commit, when) => {
    const url = await copied();
    const cut = await cutAtCommit(Number(new URL(url).port), commit, when);
    const { code, err } = await run(second(url.replace(/:\d+\//, `:${cut.port}/`)));
    expect([code, err, cut.isCut()]).toEqual([1, expect.stringContaining("the connection to the server was lost"), true]);
    cut.close();
    await outputOf(second(url));
    await expectSameEnd(url);
  });
});

/** In PostgreSQL's protocol: how a transaction that writes begins, how one that reads does, and a commit: a simple query, its length, its text. */
const [WRITES, READS, COMMIT] = ["begin isolation level read committed\0", "read only\0", "Q\0\0\0\x0bcommit\0"];

/** Between a program and PostgreSQL, until the program commits what it wrote for the `nth` time: all is cut then, `before` PostgreSQL hears it or `after` it did it. */
async function cutAtCommit(port: number, nth: number, when: "before" | "after") {
  let [commits, isCut] = [0, false];
  const sockets = new Set<Socket>();
  const cutAll = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  const listener = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    let [isWriting, isLast] = [false, false];
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => other.destroy());
    }
    if (isCut) cutAll();
    client.on("data", (data) => {
      if (data.includes(READS)) isWriting = false;
      if (data.includes(WRITES)) isWriting = true;
      if (isWriting && data.includes(COMMIT) && ++commits === nth) {
        if (when === "before") return cutAll();
        isLast = true;
      }
      server.write(data);
    });
    server.on("data", (data) => {
      if (isLast) cutAll();
      else client.write(data);
    });
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  return { port: (listener.address() as AddressInfo).port, isCut: () => isCut, close: () => listener.close() };
}
