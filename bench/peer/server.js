/**
 * The peer: the same catalog with Fastify and better-sqlite3, written in the ordinary way: `node server.js text|bytes <catalog.db> <peer.db>`.
 *
 * It does not handicap the peer: documents are stored as they are sent and never parsed, columns have indexes, and statements are prepared.
 * `text` stores documents as TEXT and joins strings; `bytes` stores BLOBs and joins bytes, as fundfeed does. Keys are looked up by hash,
 * quotas are counted in memory, and cursors are not signed.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import Database from "better-sqlite3";
import Fastify from "fastify";

const [kind, catalog, path] = process.argv.slice(2);
const KEY = "bench";

if (!existsSync(path)) copyCatalog();
const db = new Database(path);
db.pragma("journal_mode = wal");

const columns = `updated_at, id, ${kind}`;
const statements = new Map();
const findKey = db.prepare("select name, daily from keys where hash = ?");
const findOne = db.prepare(`select ${columns} from opportunities where id = ?`);
const used = new Map();

const app = Fastify();

app.addHook("onRequest", async (request, reply) => {
  reply.header("X-Request-Id", randomUUID()).header("API-Version", "1");
  const text = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
  const key = text && findKey.get(createHash("sha256").update(text).digest("hex"));
  if (!key) return reply.code(401).send({ code: "authentication_required" });
  const count = (used.get(key.name) ?? 0) + 1;
  used.set(key.name, count);
  if (count > key.daily) return reply.code(429).send({ code: "rate_limit_exceeded" });
  reply
    .header("RateLimit-Limit", key.daily)
    .header("RateLimit-Remaining", key.daily - count)
    .header("RateLimit-Reset", Math.ceil(Date.now() / 86_400_000) * 86_400);
});

app.get("/v1/opportunities", (request, reply) => {
  const { status, source, cursor, limit = "25" } = request.query;
  const conditions = [];
  const values = [];
  if (status) conditions.push("status = ?") && values.push(status);
  if (source) conditions.push("source = ?") && values.push(source);
  if (cursor) conditions.push("(updated_at, id) < (?, ?)") && values.push(...JSON.parse(Buffer.from(cursor, "base64url").toString()));
  const rows = listStatement(conditions).all(...values, Number(limit) + 1);
  const hasMore = rows.length > Number(limit);
  if (hasMore) rows.pop();
  const last = rows.at(-1);
  const next = hasMore ? Buffer.from(JSON.stringify([last.updated_at, last.id])).toString("base64url") : null;
  const meta = JSON.stringify({ request_id: reply.getHeader("X-Request-Id"), count: rows.length, has_more: hasMore, next_cursor: next });
  send(reply.header("Cache-Control", "private, no-store"), '{"data":[', rows, `],"meta":${meta}}`);
});

app.get("/v1/opportunities/:id", (request, reply) => {
  const row = findOne.get(request.params.id);
  if (!row) return reply.code(404).send({ code: "not_found" });
  const etag = `W/"${row.id}.${row.updated_at}"`;
  reply.header("ETag", etag).header("Cache-Control", "private, no-cache");
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  send(reply, '{"data":', [row], `,"meta":{"request_id":"${reply.getHeader("X-Request-Id")}"}}`);
});

function send(reply, head, rows, tail) {
  reply.header("Content-Type", "application/json");
  if (kind === "text") return reply.send(head + rows.map((row) => row.text).join(",") + tail);
  const parts = rows.flatMap((row, index) => (index === 0 ? [row.bytes] : [Buffer.from(","), row.bytes]));
  reply.send(Buffer.concat([Buffer.from(head), ...parts, Buffer.from(tail)]));
}

/** Returns the statement that lists records by these conditions; each is prepared once. */
function listStatement(conditions) {
  const where = conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`;
  const sql = `select ${columns} from opportunities ${where} order by updated_at desc, id desc limit ?`;
  if (!statements.has(sql)) statements.set(sql, db.prepare(sql));
  return statements.get(sql);
}

/** Copies the catalog into one table with indexes. */
function copyCatalog() {
  const copy = new Database(path);
  copy.pragma("synchronous = off");
  copy.exec(`
    attach '${catalog}' as catalog;
    create table keys (name text, hash text primary key, daily integer);
    insert into keys values ('bench', '${createHash("sha256").update(KEY).digest("hex")}', 1000000000);
    create table opportunities (id text primary key, updated_at integer, status text, source text, ${kind === "text" ? "text text" : "bytes blob"});
    insert into opportunities
      select o.id, o.updated_at, f.status, f.source, ${kind === "text" ? "cast(o.document as text)" : "o.document"}
      from catalog.opportunities o join catalog.facets f on f.id = o.facet_id order by o.seq;
    create index newest on opportunities (updated_at, id);
    create index by_status on opportunities (status, updated_at, id);
    create index by_source on opportunities (source, updated_at, id);`);
  copy.close();
}

await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`listening on http://127.0.0.1:${app.server.address().port}/v1\n`);
