/** Over HTTP: what page 1,000 costs compared with page 1, and a large catalog compared with a small one. */
import { generatedCatalog, warmFileCache } from "./catalog.ts";
import { generatedId } from "./generate.ts";
import { type LoadResult, measure } from "./http-load.ts";
import { createBenchKey, medians } from "./load.ts";
import { fundfeed, type Server, serve } from "./processes.ts";
import { atMost, count, printAlone, type Section, table } from "./report.ts";

const RECORDS = 1_000_000;
const SMALLER = 100_000;
const FAR_PAGE = 1000;
const ROUNDS = 3;

type Target = { server: Server; headers: Record<string, string> };
type Request = Target & { name: string; path: string };

/** Measures pages and catalog sizes over HTTP. Throws if a request fails. */
export async function catalogSizeBenchmark(): Promise<Section> {
  const [small, large] = [await start(SMALLER), await start(RECORDS)];
  try {
    const list = "/opportunities?status=open";
    const detail = `/opportunities/${generatedId(1, 4711)}`;
    const [listSmall, listLarge, detailSmall, detailLarge, first, second, far] = await measureAll([
      { ...small, name: "list of one status, 100,000 records", path: list },
      { ...large, name: "list of one status, 1,000,000 records", path: list },
      { ...small, name: "detail, 100,000 records", path: detail },
      { ...large, name: "detail, 1,000,000 records", path: detail },
      { ...large, name: "page 1 of 1,000,000 records", path: "/opportunities?limit=25" },
      { ...large, name: "page 2 of 1,000,000 records", path: await pathOfPage(large, 2) },
      { ...large, name: `page ${count(FAR_PAGE)} of 1,000,000 records`, path: await pathOfPage(large, FAR_PAGE) },
    ]);
    const rows = [listSmall, listLarge, detailSmall, detailLarge, first, second, far].map((each) => ({
      Request: each.name,
      "requests/s": each.perSecond,
      "CPU µs": each.cpuUs,
    }));
    return {
      title: "Cost by page and by size of the catalog",
      text: table(rows),
      goals: [
        atMost("CPU of page 1,000, compared with page 1", far.cpuUs / first.cpuUs, 1.2, " ×"),
        atMost("CPU of a list, 1,000,000 records compared with 100,000", listLarge.cpuUs / listSmall.cpuUs, 1.3, " ×"),
        atMost("CPU of a detail, 1,000,000 records compared with 100,000", detailLarge.cpuUs / detailSmall.cpuUs, 1.3, " ×"),
      ],
    };
  } finally {
    await small.server.stop();
    await large.server.stop();
  }
}

async function start(records: number): Promise<Target> {
  const directory = await generatedCatalog(records);
  await warmFileCache(directory);
  const headers = { Authorization: `Bearer ${await createBenchKey(directory)}` };
  return { server: await serve([...fundfeed, "serve", "--port", "0", "--data", directory]), headers };
}

async function pathOfPage({ server, headers }: Target, page: number): Promise<string> {
  let path = "/opportunities?limit=25";
  for (let current = 1; current < page; current++) {
    const { meta } = (await (await fetch(server.address + path, { headers })).json()) as { meta: { next_cursor: string } };
    path = `/opportunities?limit=25&cursor=${meta.next_cursor}`;
  }
  return path;
}

/** Each round measures all requests in turn, so that a slow minute of the machine affects all of them. */
async function measureAll<Requests extends readonly Request[]>(
  requests: readonly [...Requests],
): Promise<{ [Each in keyof Requests]: LoadResult & { name: string } }> {
  const samples = requests.map((): LoadResult[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { server, headers, path }] of requests.entries()) samples[index]?.push(await measure(server, path, headers));
  }
  const measured = requests.map(({ name }, index) => ({ name, ...medians(samples[index] ?? []) }));
  return measured as { [Each in keyof Requests]: LoadResult & { name: string } };
}

if (import.meta.main) await printAlone(catalogSizeBenchmark);
