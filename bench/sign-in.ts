/**
 * How long the sign-in takes to respond to an address that may sign in, to one that may not, and to another one that may not, as a control. They
 * come in pairs of random order. Times measured from outside must not tell them apart.
 *
 *   bun bench/sign-in.ts [ROUNDS]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fundfeed, LOAD_CORE, run, serve, workDirectory } from "./processes.ts";
import { table } from "./report.ts";

const ROUNDS = Number(process.argv[2] ?? 500);
const WARM = 50;
const ADDRESSES = { "may sign in": "ann@lab.example", "may not": "ann@lat.example", "may not either": "ann@laz.example" };

const data = mkdtempSync(join(workDirectory, "sign-in-"));
// Nothing listens at this mail server, so no link is ever delivered; the response must not depend on it.
const mailing = ["FUNDFEED_SMTP_URL=smtp://127.0.0.1:9", "FUNDFEED_MAIL_FROM=f@feeds.example", "FUNDFEED_PAGES_URL=http://localhost"];
await run(LOAD_CORE, [...fundfeed, "members", "add", ADDRESSES["may sign in"], "--data", data]);
const up = ["up", "--pages", "key", "--pull", "none", "--watch-every", "none", "--port", "0", "--data", data];
const server = await serve(["env", ...mailing, ...fundfeed, ...up]);
const { origin } = new URL(server.address);

async function millisecondsFor(address: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(`${origin}/sign-in`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ address }),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the sign-in responded with ${response.status}`);
  return performance.now() - started;
}

const taken = Object.keys(ADDRESSES).map(() => [] as number[]);
for (let round = -WARM; round < ROUNDS; round++) {
  const order = [...Object.values(ADDRESSES).entries()].sort(() => Math.random() - 0.5);
  for (const [n, address] of order) {
    const milliseconds = await millisecondsFor(address);
    if (round >= 0) taken[n]?.push(milliseconds);
  }
}
await server.stop();
rmSync(data, { recursive: true });

const last = taken.at(-1) ?? [];
const rows = Object.keys(ADDRESSES).map((Address, n) => {
  const own = taken[n] ?? [];
  const sorted = own.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return {
    Address,
    "best, ms": at(0),
    "10 %": at(0.1),
    "50 %": at(0.5),
    "90 %": at(0.9),
    "slower than the control": own.filter((each, round) => each > (last[round] ?? 0)).length / ROUNDS,
  };
});
process.stdout.write(`${table(rows)}\n`);
