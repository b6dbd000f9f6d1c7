/** What happens to a service that is used when it, or what works beside it, ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { tryLockIn } from "../../db/sqlite/lock.ts";
import { CHUNK } from "../../src/import/run.ts";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { moreResponses, startLoad } from "../support/load.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

const records = (count: number, title: string) =>
  Array.from(
    { length: count },
    (_, n) => `${JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `${title} ${n}` })}\n`,
  ).join("");

/** More than a chunk. Its first records replace those that were there. */
const IMPORTED = CHUNK + 1000;

/** A home with 100 records and a key, which each test gets a copy of. */
let prepared: { home: Home; key: string };
beforeAll(async () => {
  const home = aHome();
  const file = home.file("first.ndjson", records(100, "First"));
  expect((await fundfeed(["import", "records", file, "--data", home.at(DATA)])).code).toBe(0);
  prepared = { home, key: await home.key() };
});

const DATA = "fundfeed-data";

function withRecords(): { home: Home; key: string } {
  const home = aHome();
  cpSync(prepared.home.at(DATA), home.at(DATA), { recursive: true });
  return { home, key: prepared.key };
}

/** What `check` prints, within this process. */
const checked = async (home: Home, name = DATA) => (await fundfeed(["check", "--data", home.at(name)])).out;

describe("SIGTERM under load", () => {
  test("loses no request: every accepted one gets a response, every response is logged, and the server ends", async () => {
    const { home, key } = withRecords();
    const server = await home.serve();
    const load = startLoad(server, key);
    await moreResponses(load);
    expect(await server.stop()).toBe(0);
    await load.stop();
    expect([...load.statuses]).toEqual([200]);
    expect([...new Set(load.errors)]).toEqual(["ECONNREFUSED"]);
    const [use] = await home.json<{ used_today: number }[]>(["keys", "list"]);
    const requests = server
      .log()
      .split("\n")
      .filter((line) => line.includes(`"status":`));
    expect([requests.length, use?.used_today]).toEqual([load.responses, load.responses]);
  });
});

describe("SIGKILL", () => {
  test("of an import under load: no request fails, complete chunks stay, and running it again completes it", async () => {
    const { home, key } = withRecords();
    const server = await home.serve();
    const load = startLoad(server, key, 2);
    home.file("second.ndjson", records(IMPORTED, "Second"));
    const running = home.start(["import", "records", "second.ndjson"]);
    const second = async () => {
      const { data } = (await (await server.get("/opportunities?limit=1", key)).json()) as { data: { title: string }[] };
      return data[0]?.title.startsWith("Second");
    };
    await waitFor("its first chunk is served", second);
    running.kill("SIGKILL");
    await running.exited;
    const exported = (await fundfeed(["export", "--data", home.at(DATA)])).out.match(/"title":"Second/g) ?? [];
    expect([CHUNK, IMPORTED]).toContain(exported.length); // All, if the kill came too late.
    expect(await checked(home)).toBe("No problems found\n");
    const again = await home.json(["import", "records", "second.ndjson"]);
    expect(again).toMatchObject({ read: IMPORTED, added: IMPORTED - exported.length, unchanged: exported.length, rejected: 0 });
    await load.stop();
    expect([[...load.statuses], load.errors]).toEqual([[200], []]);
    await server.stop();
  });

  test("of the server under load: the files stay intact, and the next server serves at once", async () => {
    const { home, key } = withRecords();
    const server = await home.serve();
    const load = startLoad(server, key);
    await moreResponses(load);
    const importing = home.run(["import", "records", "-"], { stdin: records(300, "Second") });
    server.kill("SIGKILL");
    await server.ended;
    await load.stop();
    expect((await importing).code).toBe(0);
    expect(await checked(home)).toBe("No problems found\n");
    const next = await home.serve();
    expect((await next.get("/opportunities", key)).status).toBe(200);
    await next.stop();
  });
});

describe("everything at once", () => {
  test("imports take turns and say so; refresh, revocation, plans and a backup work meanwhile; no request is refused", async () => {
    const { home, key } = withRecords();
    const server = await home.serve();
    const load = startLoad(server, key, 2);
    const other = await home.json<{ id: string; key: string }>(["keys", "create", "--account", "Other"]);
    const lock = tryLockIn(home.at(DATA), "import");
    const imports = ["Second", "Third"].map((title) => home.start(["import", "records", "-"], { stdin: records(2000, title) }));
    for (const { stderr } of imports) {
      const said = await stderr.getReader().read();
      expect(new TextDecoder().decode(said.value)).toBe("Waiting for another import to finish\n");
    }
    lock?.[Symbol.dispose]();
    const ran = await Promise.all([
      home.run(["refresh"]),
      home.run(["keys", "revoke", other.id]),
      home.run(["plans", "set", "starter", "--daily", "5", "--per-minute", "5"]),
      home.run(["sources", "add", "OWN", "--name", "Own", "--description", "Ours"]),
      home.run(["backup", "copy"]),
    ]);
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(await Promise.all(imports.map(({ exited }) => exited))).toEqual([0, 0]);
    expect((await server.get("/sources", other.key)).status).toBe(401);
    await load.stop();
    expect([[...load.statuses], load.errors]).toEqual([[200], []]);
    expect([await checked(home), await checked(home, "copy")]).toEqual(["No problems found\n", "No problems found\n"]);
    await server.stop();
  });
});
