/**
 * A bare server, which shows what this machine could reach with the same catalog: `bun bench/bare-server.ts rows|static <data directory>`.
 *
 * `rows` reads stored documents from the database and joins them as bytes; `static` returns bytes from memory. Neither has keys, quotas,
 * headers, filters, cursors or logs.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";

type Row = { document: Uint8Array };

const [kind, directory = ""] = process.argv.slice(2);
const db = new Database(join(directory, "catalog.db"), { strict: true });
const newest = db.query<Row, []>("select document from opportunities order by updated_at desc, id desc limit 25");
const one = db.query<Row, [string]>("select document from opportunities where id = ?");

const headers = { "Content-Type": "application/json" };
const listHead = Buffer.from('{"data":[');
const listTail = Buffer.from('],"meta":{"count":25}}');
const detailHead = Buffer.from('{"data":');
const detailTail = Buffer.from("}");
const comma = Buffer.from(",");

const listBody = () =>
  Buffer.concat([listHead, ...newest.all().flatMap(({ document }, index) => (index === 0 ? [document] : [comma, document])), listTail]);
const detailBody = (id: string) => Buffer.concat([detailHead, one.get(id)?.document ?? new Uint8Array(), detailTail]);

const stored = { list: listBody(), detail: listBody().subarray(0, 3000) };
const bodies = {
  rows: (id: string | undefined) => (id === undefined ? listBody() : detailBody(id)),
  static: (id: string | undefined) => (id === undefined ? stored.list : stored.detail),
};
const body = bodies[kind === "static" ? "static" : "rows"];

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  development: false,
  fetch: ({ url }) => new Response(body(/\/opportunities\/([^/?]+)/.exec(url)?.[1]), { headers }),
});
process.stdout.write(`listening on ${server.url.origin}/v1\n`);
