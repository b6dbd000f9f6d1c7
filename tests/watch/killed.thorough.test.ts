/** `fundfeed watch run` in processes that are killed at any moment: the receiver gets everything, in order, and nothing twice but with the same id. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Message } from "../../src/watch/message.ts";
import { newSigningSecret } from "../../src/watch/webhook.ts";
import { outputOf, run } from "../support/clocked-program.ts";
import { aCatalog, aDirectory, aFile, dropScratch, NOON, SECOND } from "../support/imports.ts";
import { startReceiver } from "./receiver.ts";

/** FUNDFEED_KILLS=100 for a thorough run. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 4);

setDefaultTimeout(600_000);
afterAll(dropScratch);

/** More messages than kills by default; a thorough run delivers the last ones several times. */
const CHANGED = 550;
const record = (n: number, status: string) => ({ source: { code: "OWN", opportunity_id: `N${n}` }, title: `Title ${n}`, status });

test("fundfeed watch run", async () => {
  const data = aDirectory();
  const db = openCatalog(data, NOON);
  const { take, clock } = await aCatalog(db);
  await take(Array.from({ length: CHANGED }, (_, n) => record(n, "open")));
  const receiver = startReceiver();
  const secret = aFile(newSigningSecret({ randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)) }));
  const options = ["--url", receiver.url, "--secret-file", secret, "--allow-http", "--allow-private", "--data", data];
  await outputOf(["watch", "add", "all", "--to", "webhook", ...options]);
  clock.now += SECOND;
  await take(Array.from({ length: CHANGED }, (_, n) => record(n, "cancelled")));
  const [{ ids } = { ids: "" }] = db.sqlite
    .query<{ ids: string }, []>("select group_concat(id) as ids from events where type = 'status_changed'")
    .all();
  await db.close();

  const command = ["watch", "run", "--data", data];
  for (let kill = 0; kill < KILLS; kill++) {
    // Each is killed a moment after it has sent a message: while it waits for the response, or when it stores that it was accepted.
    const posted = Promise.withResolvers<void>();
    const delayMs = kill % 2 === 0 ? 0 : Math.random() * 40; // Every other one certainly before the response.
    receiver.respond = async () => {
      setTimeout(posted.resolve, delayMs);
      await Bun.sleep(20);
      return new Response();
    };
    await run(command, { killWhen: posted.promise });
  }
  expect((await run(command)).code).toBe(0);
  const messages = receiver.posted.map(({ headers, body }) => ({ id: headers.get("webhook-id") ?? "", body }));
  await receiver.stop();

  const bodies = new Map(messages.map(({ id, body }) => [id, body]));
  for (const { id, body } of messages) expect(body).toBe(bodies.get(id) ?? "");
  const items = [...bodies.values()].flatMap((body) => (JSON.parse(body) as Message).data.events);
  const delivered = items.flatMap((item) => (item.kind === "changed" ? [item.event.id] : []));
  expect(delivered).toEqual(ids.split(","));
  expect(items).toHaveLength(CHANGED); // All of them still match: the watch has no filter.
  expect(messages.length).toBeGreaterThan(bodies.size); // Some were sent again.
  expect(await outputOf(["watch", "deliveries", "--json", "--data", data])).toContain('"changed": 100');
});
