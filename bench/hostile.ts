/**
 * One key attacks `up`, and another one goes on: `bun bench/hostile.ts [main.ts of another checkout] [data directory]`, in less than eight
 * minutes. Prints the p99 of the other key's `/v1` and pages during each attack, divided by that of the quiet seconds before it, at 100,000
 * records.
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { generatedCatalog, warmFileCache } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { fundfeed, LOAD_CORE, run, SERVER_CORE, serve, workDirectory } from "./processes.ts";
import { atMost, count, type Goal, goalsTable, print, quantile, round, table } from "./report.ts";

const RECORDS = 100_000;
const SECONDS = 10;
/** How many times quiet and attack are measured in turn. The smallest p99 of each counts: other programs of the machine only add to it. */
const ROUNDS = 3;
const API_MAX = 1.5;
const PAGES_MAX = 3;
const [API_EVERY_MS, PAGE_EVERY_MS] = [20, 100];
/** After an attack, until what it began has ended. */
const PAUSE_MS = 2000;

const API_PATH = "/v1/opportunities?limit=25";
const PAGE_PATHS = ["/sources", "/?words=quantum+lidar&status=open", `/opportunities/${generatedId(1, 4711)}`, "/deadlines"];

/** The dearest requests that are known. */
const DEAR = [
  "/?words=research+program+data+system+energy+health&sort=closes",
  "/find.csv?words=research+data&limit=1000",
  "/find.json?sort=amount&limit=1000&agency=xqzw",
  "/changes?since=all&status=open&agency=energy&words=research",
  "/deadlines?words=program&status=open",
  "/events.json",
];

const NESTED = "[".repeat(1024 * 1024);

type Keys = { rich: string; spent: string };
/** Asks once, and returns when it is done. Many run at a time. */
type Attack = { atOnce: number; ask: (origin: string, keys: Keys, n: number) => Promise<unknown> };

const get = async (origin: string, path: string, key: string, signal?: AbortSignal) => {
  const response = await fetch(origin + path, {
    headers: { Authorization: `Bearer ${key}` },
    redirect: "manual",
    ...(signal && { signal }),
  });
  await response.bytes();
  if (response.status === 503) await Bun.sleep(20); // An attacker without any pause only measures the machine's own network.
};
const dear = (n: number) => DEAR[n % DEAR.length] ?? "/";

const attacks: Readonly<Record<string, Attack>> = {
  "nested JSON, quota used up": {
    atOnce: 8,
    ask: (origin, { spent }) =>
      fetch(`${origin}/mcp`, { method: "POST", body: NESTED, headers: { Authorization: `Bearer ${spent}` } }).then((each) => each.bytes()),
  },
  "dear searches": { atOnce: 16, ask: (origin, { rich }, n) => get(origin, dear(n), rich) },
  "unfinished bodies, quota used up": {
    atOnce: 64,
    ask: (origin, { spent }) =>
      new Promise<void>((resolve) => {
        const { hostname, port } = new URL(origin);
        const head = `POST /mcp HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${spent}\r\nContent-Length: 9\r\n\r\n{`;
        const socket = connect(Number(port), hostname, () => socket.write(head));
        socket.on("data", () => setTimeout(() => socket.destroy(), 50));
        socket.on("error", () => undefined);
        socket.on("close", () => resolve());
      }),
  },
  "many as_of of one record": {
    atOnce: 16,
    ask: (origin, { rich }, n) =>
      get(
        origin,
        `/opportunities/${generatedId(1, 0)}?as_of=2024-01-${String(2 + (n % 9)).padStart(2, "0")}T00:00:${n % 60}Z`.replace(
          /:(\d)Z/,
          ":0$1Z",
        ),
        rich,
      ),
  },
  "clients that leave": {
    atOnce: 60,
    ask: (origin, { rich }, n) => get(origin, dear(n), rich, AbortSignal.timeout(30)),
  },
};

/** In a process of its own: attacks until it is ended. */
async function attack(name: string, origin: string, keys: Keys): Promise<void> {
  const { atOnce = 0, ask } = attacks[name] ?? {};
  let n = 0;
  const one = async () => {
    for (;;) await ask?.(origin, keys, n++).catch(() => Bun.sleep(5));
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

type Measured = { api: number[]; pages: number[]; refused: number };

/** What another key sees for some seconds. Nothing that is refused counts as fast. */
async function measure(origin: string, key: string): Promise<Measured> {
  const until = performance.now() + SECONDS * 1000;
  const measured: Measured = { api: [], pages: [], refused: 0 };
  const probe = async (times: number[], everyMs: number, pathOf: (n: number) => string) => {
    for (let n = 0; performance.now() < until; n++) {
      const started = performance.now();
      const response = await fetch(origin + pathOf(n), { headers: { Authorization: `Bearer ${key}` }, redirect: "manual" }).catch(
        () => undefined,
      );
      await response?.bytes().catch(() => undefined);
      if (response?.status !== 200) measured.refused++;
      const took = performance.now() - started;
      times.push(took);
      await Bun.sleep(Math.max(0, everyMs - took));
    }
  };
  await Promise.all([
    probe(measured.api, API_EVERY_MS, () => API_PATH),
    probe(measured.pages, PAGE_EVERY_MS, (n) => PAGE_PATHS[n % PAGE_PATHS.length] ?? "/"),
  ]);
  return measured;
}

async function benchmark(main: string | undefined, given: string | undefined): Promise<boolean> {
  const program = main === undefined ? fundfeed : [process.execPath, main];
  const directory = join(workDirectory, "hostile");
  rmSync(directory, { recursive: true, force: true });
  const source = given ?? (await generatedCatalog(RECORDS));
  cpSync(source, directory, { recursive: true });
  await warmFileCache(directory);
  const here = (...args: string[]) => run(SERVER_CORE, [...program, ...args, "--data", directory]);
  await here("find", "--limit", "1"); // Builds the index, unless it is there.
  const keyOf = async (account: string, daily: number) => {
    await here("plans", "set", account, "--daily", `${daily}`, "--per-minute", "1000000000");
    return (await here("keys", "create", "--account", account, "--plan", account)).output.trim();
  };
  const [key, rich, spent] = [await keyOf("other", 1e9), await keyOf("rich", 1e9), await keyOf("spent", 1)];
  const options = ["--pages", "key", "--pull", "none", "--watch-every", "none", "--log-level", "failure", "--port", "0"];
  const server = await serve([...program, "up", ...options, "--data", directory]);
  const { origin } = new URL(server.address);
  const rows: Record<string, string | number>[] = [];
  const goals: Goal[] = [];
  try {
    await fetch(`${origin}/v1/opportunities`, { headers: { Authorization: `Bearer ${spent}` } });
    await measure(origin, key); // The reader starts, and code is compiled.
    for (const name of Object.keys(attacks)) {
      const [quiet, hostile]: [Measured[], Measured[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        quiet.push(await measure(origin, key));
        const attacker = Bun.spawn(
          ["taskset", "-c", `${LOAD_CORE}`, process.execPath, import.meta.path, "attack", name, origin, rich, spent],
          {
            stdio: ["ignore", "inherit", "inherit"],
          },
        );
        await Bun.sleep(1000);
        hostile.push(await measure(origin, key));
        attacker.kill("SIGKILL");
        await attacker.exited;
        await Bun.sleep(PAUSE_MS);
      }
      const ofEach = (rounds: Measured[], what: "api" | "pages", share: number) => rounds.map((each) => quantile(each[what], share));
      const bestOf = (rounds: Measured[], what: "api" | "pages", share = 0.99) => Math.min(...ofEach(rounds, what, share));
      const of = (what: "api" | "pages") => [bestOf(quiet, what), bestOf(hostile, what)] as const;
      const [[apiQuiet, apiHostile], [pagesQuiet, pagesHostile]] = [of("api"), of("pages")];
      const [api, pages] = [apiHostile / apiQuiet, pagesHostile / pagesQuiet];
      const refused = (rounds: Measured[]) => rounds.reduce((sum, each) => sum + each.refused, 0);
      rows.push({
        attack: name,
        "/v1 p99 quiet": `${round(apiQuiet)} ms`,
        "/v1 p99 attacked": `${round(apiHostile)} ms`,
        "pages p99 quiet": `${round(pagesQuiet)} ms`,
        "pages p99 attacked": `${round(pagesHostile)} ms`,
        "pages median": `${round(bestOf(quiet, "pages", 0.5))} → ${round(bestOf(hostile, "pages", 0.5))} ms`,
        refused: `${refused(quiet)} → ${refused(hostile)}`,
      });
      const inTurn = (what: "api" | "pages") => {
        const [quietOnes, hostileOnes] = [ofEach(quiet, what, 0.99), ofEach(hostile, what, 0.99)];
        return hostileOnes.map((each, n) => round(each / (quietOnes[n] ?? Number.NaN))).join(", ");
      };
      print(`${name}: /v1 ${round(api)} × (rounds ${inTurn("api")}), pages ${round(pages)} × (rounds ${inTurn("pages")})`);
      goals.push(atMost(`${name}: /v1`, api, API_MAX, " ×"), atMost(`${name}: pages`, pages, PAGES_MAX, " ×"));
    }
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
  print(`\n${count(RECORDS)} records, ${ROUNDS} × ${SECONDS} s of each\n\n${table(rows)}\n\n${goalsTable(goals)}`);
  return goals.every(({ met }) => met);
}

const [, , first, ...rest] = process.argv;
if (first === "attack") {
  const [name = "", origin = "", rich = "", spent = ""] = rest;
  await attack(name, origin, { rich, spent });
} else if (first !== undefined && !existsSync(first)) throw new Error(`There is no ${first}`);
else process.exit((await benchmark(first, rest[0])) ? 0 : 1);
