/**
 * Database files that operators replace or overwrite while a program uses them. The new file is served, or the command fails. The log of
 * the old file never damages it.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

const records = (count: number, title: string) =>
  Array.from({ length: count }, (_, n) => `${JSON.stringify({ source: { code: "OWN", opportunity_id: `${title}${n}` }, title })}\n`).join(
    "",
  );

/** A home with the same database twice: in `new`, as another installation closed it, and in `copy`, as a backup. */
let made: Home;
let exportOfNew: string;
const KEY = { key: "", id: "" };
beforeAll(async () => {
  made = aHome();
  const key = await made.json<{ key: string; id: string }>(["keys", "create", "--account", "Acme", "--plan", "paid", "--data", "new"]);
  Object.assign(KEY, key);
  await made.run(["import", "records", "-", "--data", "new"], { stdin: records(3000, "New") });
  expect((await made.run(["backup", "copy", "--data", "new"])).code).toBe(0);
  exportOfNew = (await made.run(["export", "--data", "new"])).out;
});

/** A home with the new files in `next`, and a server whose catalog has a log of more than 100 KB. */
async function aServedHome(from: "new" | "copy"): Promise<{ home: Home; server: Server }> {
  const home = aHome();
  await home.key();
  cpSync(made.at("new/state.db"), home.at("fundfeed-data/state.db")); // The same key works before and after.
  const server = await home.serve();
  await home.run(["import", "records", "-"], { stdin: records(500, "Old") });
  expect(statSync(home.at("fundfeed-data/catalog.db-wal")).size).toBeGreaterThan(100_000);
  mkdirSync(home.at("next"));
  for (const name of ["catalog.db", "state.db"]) cpSync(made.at(`${from}/${name}`), home.at(`next/${name}`));
  return { home, server };
}

const sh = (home: Home, script: string) => {
  const ran = Bun.spawnSync(["sh", "-euc", script], { cwd: home.directory });
  if (ran.exitCode !== 0) throw new Error(`${script}: ${ran.stderr}`);
};

/** Each is a shell command that puts the files of `next` into the data directory. */
const ways: [string, string][] = [
  ["mv of the catalog", "mv next/catalog.db fundfeed-data/catalog.db"],
  // Without --inplace, it copies to a temporary name and renames.
  ["rsync of the catalog", "cp next/catalog.db fundfeed-data/.catalog.db.x; mv fundfeed-data/.catalog.db.x fundfeed-data/catalog.db"],
  [
    "rsync --delete of the directory",
    "for n in catalog state; do cp next/$n.db fundfeed-data/.$n.x; mv fundfeed-data/.$n.x fundfeed-data/$n.db; done; rm -f fundfeed-data/*-wal fundfeed-data/*-shm",
  ],
  ["install of the catalog", "install -m 0600 next/catalog.db fundfeed-data/catalog.db"],
  ["rm and cp of the catalog", "rm fundfeed-data/catalog.db; cp next/catalog.db fundfeed-data/catalog.db"],
  ["mv of both files", "mv next/catalog.db next/state.db fundfeed-data/"],
  ["rm -rf and cp -r of the directory", "rm -rf fundfeed-data; cp -r next fundfeed-data"],
  ["mv of the directory", "mv fundfeed-data away; mv next fundfeed-data"],
  ["cp over the catalog", "cp next/catalog.db fundfeed-data/catalog.db"],
  ["cp over both files", "cp next/catalog.db next/state.db fundfeed-data/"],
];

const titleOf = async (server: Server) => {
  const response = await server.get("/opportunities?limit=1", KEY.key);
  return response.status === 200 ? ((await response.json()) as { data: { title: string }[] }).data[0]?.title : response.status;
};

async function expectNewIsWhole(home: Home): Promise<void> {
  expect((await home.run(["check"])).out).toBe("No problems found\n");
  expect((await home.run(["export"])).out === exportOfNew).toBe(true);
}

/** One that replaces a file, and one that writes into it. */
const twoWays = ways.filter(([name]) => /^(mv|cp over) (of )?the catalog$/.test(name));

describe.each([
  ["files of another installation", "new", ways],
  ["backups", "copy", twoWays],
] as const)("%s in a served directory", (_, from, ways) => {
  test.each(ways)("after %s are served without a restart, and intact", async (_, way) => {
    const { home, server } = await aServedHome(from);
    expect(await titleOf(server)).toBe("Old");
    sh(home, way);
    await waitFor("the new file is served", async () => (await titleOf(server)) === "New");
    await waitFor("the log says so", () => /were replaced/.exec(server.log())?.[0]);
    expect(await server.stop()).toBe(0);
    await expectNewIsWhole(home);
    expect(readdirSync(home.at("fundfeed-data")).filter((name) => /wal|shm/.test(name))).toEqual([]);
  });

  test.each<[string, (server: Server) => Promise<unknown>]>([
    ["stopped", (server) => server.stop()],
    [
      "killed",
      (server) => {
        server.kill("SIGKILL");
        return server.ended;
      },
    ],
  ])("survive the next start when the server is %s before it notices", async (_, end) => {
    const { home, server } = await aServedHome(from);
    server.kill("SIGSTOP"); // It notices nothing before it ends.
    sh(home, "mv next/catalog.db fundfeed-data/catalog.db");
    const ended = end(server);
    server.kill("SIGCONT");
    await ended;
    const next = await home.run(["import", "records", "-"], { stdin: "" });
    if (next.code === 1) {
      expect(next.err).toMatch(
        /^Cannot open .*catalog\.db: the log .*catalog\.db-wal belongs to a file that was replaced.*remove the log and .*catalog\.db-shm.*\n$/,
      );
      sh(home, "rm fundfeed-data/catalog.db-wal fundfeed-data/catalog.db-shm");
    }
    await expectNewIsWhole(home);
  });

  test.each(["import records -", "check"])("make a command (%s) wait until the server has removed its log", async (line) => {
    const { home, server } = await aServedHome(from);
    server.kill("SIGSTOP");
    sh(home, "mv next/catalog.db fundfeed-data/catalog.db");
    const ran = home.run(line.split(" "));
    await Bun.sleep(500); // The command cannot be seen waiting. A slow one only finds the log removed already.
    server.kill("SIGCONT");
    expect((await ran).code).toBe(0);
    await waitFor("the new file is served", async () => (await titleOf(server)) === "New");
    expect(await server.stop()).toBe(0);
    await expectNewIsWhole(home);
  });
});

test("a served catalog that is moved elsewhere keeps what was in its log", async () => {
  const { home, server } = await aServedHome("new");
  sh(home, "mkdir aside; mv fundfeed-data/catalog.db aside/; mv next/catalog.db fundfeed-data/");
  await waitFor("the new file is served", async () => (await titleOf(server)) === "New");
  expect(await server.stop()).toBe(0);
  await expectNewIsWhole(home);
  expect((await home.run(["export", "--data", "aside"])).out.trimEnd().split("\n")).toHaveLength(500);
});

test("a state that replaces a served one stays intact and counts the use from then on", async () => {
  const { home, server } = await aServedHome("new");
  expect((await server.get("/sources", KEY.key)).status).toBe(200);
  sh(home, "mv next/state.db fundfeed-data/state.db");
  await waitFor("the log says so", () => /were replaced/.exec(server.log())?.[0]);
  for (let n = 0; n < 5; n++) expect((await server.get("/sources", KEY.key)).status).toBe(200);
  expect(await server.stop()).toBe(0);
  expect((await home.run(["check"])).out).toBe("No problems found\n");
  const [use] = await home.json<{ requests: number }[]>(["keys", "usage"]);
  expect(use?.requests).toBe(5);
});

describe("during an import", () => {
  /** An import that has stored some chunks, and not all. */
  async function anImport(): Promise<{ home: Home; importing: ReturnType<Home["start"]> }> {
    const home = aHome();
    cpSync(made.at("new/state.db"), home.at("state.db"));
    await home.run(["import", "records", "-"], { stdin: records(1, "Old") });
    cpSync(made.at("new/state.db"), home.at("fundfeed-data/state.db"));
    mkdirSync(home.at("next"));
    for (const name of ["catalog.db", "state.db"]) cpSync(made.at(`new/${name}`), home.at(`next/${name}`));
    const importing = home.start(["import", "records", home.file("many.ndjson", records(30_000, "Many"))]);
    const log = home.at("fundfeed-data/catalog.db-wal");
    await waitFor("it writes", () => existsSync(log) && statSync(log).size > 1_000_000);
    return { home, importing };
  }

  test.each(ways)("%s makes the import fail, and the new file stays intact", async (name, way) => {
    const { home, importing } = await anImport();
    importing.kill("SIGSTOP"); // It must not end before the files are there.
    sh(home, way);
    importing.kill("SIGCONT");
    const [code, err] = [await importing.exited, await importing.stderr.text()];
    expect(code).toBe(1);
    expect(err).toMatch(
      /of the directory$/.test(name)
        ? /^Cannot finish import: .+\n$/
        : /^Cannot finish import: .*catalog\.db was (replaced|overwritten|removed).*run it again\n$/,
    );
    await expectNewIsWhole(home);
  });

  test("a catalog that is moved elsewhere keeps the chunks that were stored", async () => {
    const { home, importing } = await anImport();
    importing.kill("SIGSTOP");
    sh(home, "mkdir aside; mv fundfeed-data/catalog.db aside/; mv next/catalog.db fundfeed-data/");
    importing.kill("SIGCONT");
    expect(await importing.exited).toBe(1);
    await expectNewIsWhole(home);
    expect((await home.run(["check", "--data", "aside"])).out).toBe("No problems found\n");
    expect((await home.run(["export", "--data", "aside"])).out.split("\n").length).toBeGreaterThan(4000);
  });

  test("restore is refused", async () => {
    const { home, importing } = await anImport();
    const { code, err } = await home.run(["restore", "next"]);
    expect([code, err]).toEqual([1, expect.stringContaining("catalog.db is in use: a server or an import has it open")]);
    expect(await importing.exited).toBe(0);
    expect((await home.run(["check"])).out).toBe("No problems found\n");
  });
});

test.each(["mv", "cp"])(
  "a backup next to the log of a killed server (%s) is refused by every command until the log is removed",
  async (way) => {
    const { home, server } = await aServedHome("copy");
    server.kill("SIGKILL");
    await server.ended;
    sh(home, `${way} next/catalog.db fundfeed-data/catalog.db`);
    const commands = [["export"], ["check"], ["serve", "--port", "0"], ["import", "records", "-"], ["restore", made.at("copy")]];
    await Promise.all(
      commands.map(async (args) => {
        const { code, out, err } = await home.run(args);
        expect([args, code]).toEqual([args, 1]);
        expect(out + err).toMatch(/the log .*catalog\.db-wal belongs to a file that was replaced.*remove the log and .*catalog\.db-shm/);
      }),
    );
    sh(home, "rm fundfeed-data/catalog.db-wal fundfeed-data/catalog.db-shm");
    await expectNewIsWhole(home);
  },
);

test("a catalog that is overwritten under a server that recovered from a crash is served, and intact", async () => {
  const { home, server } = await aServedHome("copy");
  server.kill("SIGKILL");
  await server.ended;
  const recovered = await home.serve();
  expect(await titleOf(recovered)).toBe("Old");
  sh(home, "cp next/catalog.db fundfeed-data/catalog.db");
  await waitFor("the new file is served", async () => (await titleOf(recovered)) === "New");
  expect(await recovered.stop()).toBe(0);
  await expectNewIsWhole(home);
});

test("a catalog that is overwritten during an export makes the export fail", async () => {
  const { home, server } = await aServedHome("copy");
  await home.run(["import", "records", "-"], { stdin: records(3000, "Other") });
  // More than a pipe holds, so the export cannot end before it is read to the end.
  const script = '{ "$@"; echo $? > code; } | { head -n 1 > begun; while [ ! -e go ]; do sleep 0.05; done; cat > /dev/null; }';
  const exporting = home.run(["export"], { through: ["sh", "-c", script, "sh"] });
  await waitFor("it writes", () => existsSync(home.at("begun")) && statSync(home.at("begun")).size > 0);
  sh(home, "cp next/catalog.db fundfeed-data/catalog.db; touch go");
  expect((await exporting).err).toMatch(/^Cannot .*catalog\.db: it was overwritten meanwhile.*\n$/);
  expect(readFileSync(home.at("code"), "utf8")).toBe("1\n");
  await waitFor("the new file is served", async () => (await titleOf(server)) === "New");
  expect(await server.stop()).toBe(0);
  await expectNewIsWhole(home);
});

test("a data directory that is copied or moved after a crash opens with what is in its log", async () => {
  const { home, server } = await aServedHome("new");
  server.kill("SIGKILL");
  await server.ended;
  cpSync(home.at("fundfeed-data"), home.at("elsewhere"), { recursive: true });
  renameSync(home.at("fundfeed-data"), home.at("moved"));
  for (const data of ["elsewhere", "moved"]) {
    expect((await home.run(["export", "--data", data])).out.trimEnd().split("\n")).toHaveLength(500);
    expect((await home.run(["import", "records", "-", "--data", data])).code).toBe(0);
    expect((await home.run(["check", "--data", data])).out).toBe("No problems found\n");
    expect(readdirSync(join(home.directory, data)).filter((name) => /^catalog.*(wal|shm)/.test(name))).toEqual([]);
  }
  rmSync(home.at("moved"), { recursive: true });
});
