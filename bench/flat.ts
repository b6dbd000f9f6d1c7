/** Over HTTP: what a page far from the first costs, and a catalog that is ten times as large. */
import { catalogOf, warm } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { createBenchKey, medians } from "./load.ts";
import { measure, type Pressure } from "./pressure.ts";
import { product, type Server, serve } from "./processes.ts";
import { atMost, printAlone, type Section, table } from "./report.ts";

const RECORDS = 1_000_000;
const SMALLER = 100_000;
const PAGE = 1000;
const ROUNDS = 3;

type Target = { server: Server; headers: Record<string, string> };
type Ask = Target & { name: string; path: string };

export async function flatBenchmark(): Promise<Section> {
  const [small, large] = [await start(SMALLER), await start(RECORDS)];
  try {
    const list = "/opportunities?status=open";
    const detail = `/opportunities/${generatedId(1, 4711)}`;
    const [listSmall, listLarge, detailSmall, detailLarge, first, second, last] = await measureAll([
      { ...small, name: "list of one status, 100,000 records", path: list },
      { ...large, name: "list of one status, 1,000,000 records", path: list },
      { ...small, name: "detail, 100,000 records", path: detail },
      { ...large, name: "detail, 1,000,000 records", path: detail },
      { ...large, name: "page 1 of 1,000,000 records", path: "/opportunities?limit=25" },
      { ...large, name: "page 2 of them, by a cursor", path: await pathOfPage(large, 2) },
      { ...large, name: `page ${PAGE.toLocaleString("en-US")} of them`, path: await pathOfPage(large, PAGE) },
    ]);
    const rows = [listSmall, listLarge, detailSmall, detailLarge, first, second, last].map((each) => ({
      Request: each.name,
      "requests/s": each.perSecond,
      "µs computed": each.computedUs,
    }));
    return {
      title: "What does not grow with the catalog",
      text: table(rows),
      bars: [
        atMost("page 1,000 against page 1", last.computedUs / first.computedUs, 1.2, " ×"),
        atMost("list, 100,000 → 1,000,000 records", listLarge.computedUs / listSmall.computedUs, 1.3, " ×"),
        atMost("detail, 100,000 → 1,000,000 records", detailLarge.computedUs / detailSmall.computedUs, 1.3, " ×"),
      ],
    };
  } finally {
    await small.server.stop();
    await large.server.stop();
  }
}

async function start(records: number): Promise<Target> {
  const directory = await catalogOf(records);
  await warm(directory);
  const headers = { Authorization: `Bearer ${await createBenchKey(directory)}` };
  return { server: await serve([...product, "serve", "--port", "0", "--data", directory]), headers };
}

async function pathOfPage({ server, headers }: Target, page: number): Promise<string> {
  let path = "/opportunities?limit=25";
  for (let at = 1; at < page; at++) {
    const { meta } = (await (await fetch(server.address + path, { headers })).json()) as { meta: { next_cursor: string } };
    path = `/opportunities?limit=25&cursor=${meta.next_cursor}`;
  }
  return path;
}

/** Rounds go over all in turn, so that a slow minute of the machine hits them alike. */
async function measureAll<Asks extends readonly Ask[]>(
  asks: readonly [...Asks],
): Promise<{ [Each in keyof Asks]: Pressure & { name: string } }> {
  const samples = asks.map((): Pressure[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { server, headers, path }] of asks.entries()) samples[index]?.push(await measure(server, path, headers));
  }
  const measured = asks.map(({ name }, index) => ({ name, ...medians(samples[index] ?? []) }));
  return measured as { [Each in keyof Asks]: Pressure & { name: string } };
}

if (import.meta.main) await printAlone(flatBenchmark);
