/** Upstreams on this machine, and pulls from them: nothing waits, and what would have been waited for is counted. */
import { afterEach } from "bun:test";
import { createServer, type Socket } from "node:net";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { ImportContext } from "../../src/import/context.ts";
import type { Net } from "../../src/pull/download.ts";
import { type Pull, pull } from "../../src/pull/pull.ts";
import { upstreams } from "../../src/pull/upstreams.ts";
import { aDirectory } from "../support/imports.ts";
import { realFile } from "../support/real-data.ts";
import { zipArchive } from "../support/zip-archive.ts";

/** 2026-08-03T12:00:00Z */
export const NOW = Date.UTC(2026, 7, 3, 12);

/** The extract of a day as Grants.gov publishes it, with its text changed. */
export function extractOf(day: string, change = (text: string) => text): Buffer {
  const xml = change(realFile(`grants-gov/derived/GrantsDBExtract${day}v2.reconstructed.xml.gz`).toString());
  return zipArchive(`GrantsDBExtract${day}v2.xml`, Buffer.from(xml));
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

export type Asked = { method: string; path: string; query: URLSearchParams; headers: Headers; body: unknown };
export type Played = { base: string; asked: Asked[] };
/** `hangUp` ends what is silent. */
export type RawPlayed = Played & { hangUp: () => void };

/** Answers as the function says; `undefined` is 404. What was asked is kept. */
export function play(answer: (asked: Asked, turn: number) => Response | undefined | Promise<Response | undefined>): Played {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const text = await request.text();
      const isForm = request.headers.get("content-type") === "application/x-www-form-urlencoded";
      const body = text === "" ? undefined : isForm ? text : JSON.parse(text);
      asked.push({ method: request.method, path: pathname, query: searchParams, headers: request.headers, body });
      return (await answer(asked[asked.length - 1] as Asked, asked.length)) ?? new Response("", { status: 404 });
    },
  });
  closing.push(() => server.stop(true));
  return { base: `http://127.0.0.1:${server.port}/`, asked };
}

/** Writes bytes as they are to each connection in turn, and then does to it what the script says. */
export async function playRaw(script: readonly { write: string | Uint8Array; ending: "end" | "reset" | "silence" }[]): Promise<RawPlayed> {
  const asked: Asked[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", (request) => {
      const [head = "", ...lines] = request.toString("latin1").split("\r\n\r\n", 1).join().split("\r\n");
      const headers = new Headers(
        lines.filter((line) => line.includes(":")).map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
      );
      const step = script[asked.length] ?? { write: "", ending: "end" };
      asked.push({ method: "GET", path: head.split(" ")[1] ?? "", query: new URLSearchParams(), headers, body: undefined });
      socket.write(step.write, () => {
        if (step.ending === "end") socket.end();
        if (step.ending === "reset") socket.resetAndDestroy();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  closing.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return {
    base: `http://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}/`,
    asked,
    hangUp: () => open.forEach((socket) => void socket.end()),
  };
}

/** The head of an answer and the beginning of its body. */
export function rawAnswer(status: string, headers: Record<string, string>, body: Uint8Array): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`), body]);
}

/** Longer than any busy machine needs. */
export const PATIENT = { responseMs: 60_000, silenceMs: 60_000, totalMs: 60_000 };

/** What a download has of the outside. `waits` are the milliseconds that would have been waited. */
export function aNet(base: string, given: Partial<Net> = {}): Net & { waits: number[] } {
  const waits: number[] = [];
  return {
    hosts: [new URL(base).host],
    allowHttp: true,
    timeouts: PATIENT,
    now: () => NOW,
    random: () => 1,
    wait: async (ms) => void waits.push(ms),
    stop: new AbortController().signal,
    progress: () => undefined,
    waits,
    ...given,
  };
}

/** A data directory, and pulls of one source into it. */
export function aPuller(source: string) {
  const upstream = upstreams.find(({ name }) => name === source);
  if (upstream === undefined) throw new Error(`There is no upstream ${source}`);
  const directory = aDirectory();
  const db = openCatalog(directory, NOW);
  closing.push(() => db.close());
  const clock = { now: NOW };
  const told: string[] = [];
  const context: ImportContext = {
    db,
    directory,
    now: () => clock.now,
    notify: (message) => void told.push(message),
    progress: () => undefined,
  };
  const order = { upstream, key: undefined, keep: undefined, force: false, allowRemovals: true, rejects: undefined };
  const waits: number[] = [];
  return {
    db,
    directory,
    clock,
    told,
    /** Milliseconds waited, but for the pace. */
    waits,
    turn: (base: string, given: Partial<Omit<Pull, "base">> & { net?: Partial<Net> } = {}) => {
      const { net: netGiven, ...rest } = given;
      const net = aNet(base, { now: () => clock.now, wait: async (ms) => void (ms !== 350 && waits.push(ms)), ...netGiven });
      return pull(context, net, { ...order, base: new URL(base), ...rest });
    },
  };
}
