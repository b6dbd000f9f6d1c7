import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Exchange, recordingFetch } from "../../release/exchanges.ts";
import { download, type FileValidators, type Net } from "../../src/pull/download.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { type Asked, aNet, NOW, PATIENT, play, playRaw, rawAnswer } from "./upstream.ts";

afterAll(dropScratch);

const BYTES = Buffer.from("0123456789".repeat(1000));
const HEADERS = { "content-type": "text/csv" };
const RESUMABLE = { ...HEADERS, "content-length": "10000", "accept-ranges": "bytes", etag: '"one"', connection: "close" };

/** Downloads `<base>file.csv?key=secret`; `saved` is what stands in the file afterwards, if there is one. */
async function fetched(base: string, given: Partial<Net> & { known?: FileValidators; bytesMax?: number } = {}) {
  const { known, bytesMax = 100_000, ...netGiven } = given;
  const path = join(aDirectory(), "file.csv");
  const net = aNet(base, netGiven);
  const request = { url: new URL("file.csv?key=secret", base), types: ["text/csv"], bytesMax };
  const result = await download(net, request, path, known).catch((error: Error) => error.message);
  const saved = existsSync(path) ? readFileSync(path).toString() : undefined;
  return { result, saved, waits: net.waits, left: readdirSync(join(path, "..")) };
}

const whole = () => new Response(BYTES, { headers: HEADERS });
const status = (code: number, headers: Record<string, string> = {}) => new Response("sorry", { status: code, headers });

describe("download()", () => {
  test("saves the response and returns its validators", async () => {
    const upstream = play(
      () => new Response(BYTES, { headers: { ...HEADERS, etag: 'W/"1"', "last-modified": "Mon, 03 Aug 2026 00:00:00 GMT" } }),
    );
    const { result, saved } = await fetched(upstream.base);
    expect(result).toEqual({
      outcome: "saved",
      validators: { etag: 'W/"1"', last_modified: "Mon, 03 Aug 2026 00:00:00 GMT" },
      cookies: "",
    });
    expect(saved).toBe(BYTES.toString());
    expect(Object.fromEntries(upstream.asked[0]?.headers ?? [])).toMatchObject({
      accept: "text/csv",
      "accept-encoding": "identity",
      "user-agent": expect.stringMatching(/^Mozilla\/5\.0 \(compatible; fundfeed\/\d/),
    });
  });

  test("decodes a content coding", async () => {
    const upstream = play(() => new Response(Bun.gzipSync(BYTES), { headers: { ...HEADERS, "content-encoding": "gzip" } }));
    expect(await fetched(upstream.base)).toMatchObject({ result: { outcome: "saved" }, saved: BYTES.toString() });
  });

  test("returns missing for a 404, and leaves no file", async () => {
    const { result, left } = await fetched(play(() => undefined).base);
    expect(result).toEqual({ outcome: "missing" });
    expect(left).toEqual([]);
  });

  test("makes a conditional request with known validators", async () => {
    const known = { etag: '"one"', last_modified: null };
    const upstream = play(({ headers }) => (headers.get("if-none-match") === '"one"' ? status(304) : whole()));
    expect(await fetched(upstream.base, { known })).toMatchObject({ result: { outcome: "unchanged" }, left: [] });
    expect(upstream.asked[0]?.headers.has("if-modified-since")).toBe(false);
  });

  test("fails for a 304 to an unconditional request", async () => {
    const { base } = play(() => status(304));
    expect(await fetched(base)).toMatchObject({ result: `Cannot fetch ${base}file.csv: it returned 304`, left: [] });
  });
});

describe("a temporary failure", () => {
  test.each([408, 425, 429, 500, 502, 503, 504])("is retried after %i, with growing delays", async (code) => {
    const upstream = play((_, turn) => (turn < 5 ? status(code) : whole()));
    expect(await fetched(upstream.base)).toMatchObject({
      result: { outcome: "saved" },
      saved: BYTES.toString(),
      waits: [1000, 2000, 4000, 8000],
    });
  });

  test("is retried after a delay that is up to half random", async () => {
    const upstream = play((_, turn) => (turn < 3 ? status(503) : whole()));
    expect(await fetched(upstream.base, { random: () => 0 })).toMatchObject({ waits: [500, 1000] });
  });

  test("ends the download after five attempts", async () => {
    const upstream = play(() => status(503));
    const { result, waits, left } = await fetched(upstream.base);
    expect(result).toBe(`Cannot fetch ${upstream.base}file.csv: it returned 503 (tried 5 times)`);
    expect(upstream.asked).toHaveLength(5);
    expect(waits).toHaveLength(4);
    expect(left).toEqual([]);
  });

  test.each([
    ["seconds", "7", 7000],
    ["a date", new Date(NOW + 90_000).toUTCString(), 90_000],
    ["a date that has passed", new Date(NOW - 90_000).toUTCString(), 0],
    ["nonsense", "soon", 1000],
    ["a fraction", "1.5", 500],
    ["a negative number", "-5", 500],
  ])("is retried after the Retry-After in %s", async (_, text, ms) => {
    const upstream = play((_asked, turn) => (turn === 1 ? status(429, { "retry-after": text }) : whole()));
    expect(await fetched(upstream.base, { random: () => (text === "soon" ? 1 : 0) })).toMatchObject({
      result: { outcome: "saved" },
      waits: [ms],
    });
  });

  test("ends the download if Retry-After is too long", async () => {
    const upstream = play(() => status(429, { "retry-after": "86400" }));
    const { result, waits } = await fetched(upstream.base);
    expect(result).toBe(`Cannot fetch ${upstream.base}file.csv: it returned 429 and asked to wait 86400 s`);
    expect(waits).toEqual([]);
  });

  test.each([400, 401, 403, 410, 206, 204])("is not %i", async (code) => {
    const upstream = play(() => new Response(code === 204 ? null : "sorry", { status: code }));
    expect(await fetched(upstream.base)).toMatchObject({ result: `Cannot fetch ${upstream.base}file.csv: it returned ${code}`, waits: [] });
    expect(upstream.asked).toHaveLength(1);
  });

  test("is a reset or refused connection", async () => {
    const upstream = await playRaw([
      { write: "", ending: "reset" },
      { write: rawAnswer("200 OK", { ...HEADERS, "content-length": "10000" }, BYTES.subarray(0, 4000)), ending: "reset" },
      { write: rawAnswer("200 OK", { ...HEADERS, "content-length": "10000", connection: "close" }, BYTES), ending: "end" },
    ]);
    expect(await fetched(upstream.base)).toMatchObject({ result: { outcome: "saved" }, saved: BYTES.toString(), waits: [1000, 2000] });

    const gone = "http://127.0.0.1:1/";
    expect(await fetched(gone)).toMatchObject({
      result: expect.stringMatching(/^Cannot fetch http:\/\/127\.0\.0\.1:1\/file\.csv: .* \(tried 5 times\)$/),
    });
  });

  test("is a response that does not come, or stops coming", async () => {
    const silent = await playRaw(Array.from({ length: 5 }, () => ({ write: "", ending: "silence" as const })));
    expect((await fetched(silent.base, { timeouts: { ...PATIENT, responseMs: 60 } })).result).toBe(
      `Cannot fetch ${silent.base}file.csv: it did not respond within 0.06 s (tried 5 times)`,
    );
    const half = rawAnswer("200 OK", { ...HEADERS, "content-length": "10000" }, BYTES.subarray(0, 4000));
    const falling = await playRaw(Array.from({ length: 5 }, () => ({ write: half, ending: "silence" as const })));
    expect((await fetched(falling.base, { timeouts: { ...PATIENT, silenceMs: 60 } })).result).toBe(
      `Cannot fetch ${falling.base}file.csv: it sent nothing for 0.06 s (tried 5 times)`,
    );
  });

  test("is a response that takes too long", async () => {
    const dripping = play(
      () =>
        new Response(
          new ReadableStream({
            async pull(controller) {
              await Bun.sleep(5);
              controller.enqueue("x");
            },
          }),
          { headers: HEADERS },
        ),
    );
    const { result, left } = await fetched(dripping.base, { timeouts: { ...PATIENT, totalMs: 60 } });
    expect(result).toBe(`Cannot fetch ${dripping.base}file.csv: it took longer than 0.06 s (tried 5 times)`);
    expect(left).toEqual([]);
  });

  test("is not retried after a stop", async () => {
    const stop = new AbortController();
    const upstream = play(() => status(503));
    const { result } = await fetched(upstream.base, { stop: stop.signal, wait: async () => stop.abort() });
    expect(result).toBe(`Cannot fetch ${upstream.base}file.csv: it was stopped`);
    expect(upstream.asked).toHaveLength(1);
  });

  test("is not retried if a stop comes during a response", async () => {
    const stop = new AbortController();
    const upstream = await playRaw([{ write: rawAnswer("200 OK", RESUMABLE, BYTES.subarray(0, 4000)), ending: "silence" }]);
    const { result, left } = await fetched(upstream.base, { stop: stop.signal, progress: () => stop.abort() });
    expect(result).toBe(`Cannot fetch ${upstream.base}file.csv: it was stopped`);
    expect(left).toEqual([]);
  });
});

describe("an interrupted download", () => {
  const half = rawAnswer("200 OK", RESUMABLE, BYTES.subarray(0, 4000));
  const rest = (headers: Record<string, string> = {}) =>
    rawAnswer(
      "206 Partial Content",
      { ...RESUMABLE, "content-length": "6000", "content-range": "bytes 4000-9999/10000", ...headers },
      BYTES.subarray(4000),
    );
  const ranges = (asked: readonly Asked[]) => asked.map(({ headers }) => [headers.get("range"), headers.get("if-range")]);

  test("resumes where it ended", async () => {
    const upstream = await playRaw([
      { write: half, ending: "silence" },
      { write: rest(), ending: "end" },
    ]);
    expect(await fetched(upstream.base, { progress: upstream.hangUp })).toMatchObject({
      result: { outcome: "saved" },
      saved: BYTES.toString(),
      waits: [1000],
    });
    expect(ranges(upstream.asked)).toEqual([
      [null, null],
      ["bytes=4000-", '"one"'],
    ]);
  });

  test("starts over if a 200 shows that the file has changed", async () => {
    const other = Buffer.from("abc".repeat(2000));
    const upstream = await playRaw([
      { write: half, ending: "silence" },
      { write: rawAnswer("200 OK", { ...RESUMABLE, "content-length": "6000", etag: '"two"' }, other), ending: "end" },
    ]);
    expect(await fetched(upstream.base, { progress: upstream.hangUp })).toMatchObject({
      result: { outcome: "saved", validators: { etag: '"two"' } },
      saved: other.toString(),
    });
  });

  test.each([
    ["another entity tag", rest({ etag: '"two"' })],
    ["another size", rest({ "content-range": "bytes 4000-9999/10001" })],
    ["another range", rest({ "content-range": "bytes 3000-8999/10000" })],
    ["no range", rest({ "content-range": "" })],
    ["nothing to give", rawAnswer("416 Range Not Satisfiable", { ...RESUMABLE, "content-length": "0" }, Buffer.alloc(0))],
  ])("starts over if the rest comes with %s", async (_, second) => {
    const upstream = await playRaw([
      { write: half, ending: "silence" },
      { write: second, ending: "end" },
      { write: rawAnswer("200 OK", RESUMABLE, BYTES), ending: "end" },
    ]);
    expect(await fetched(upstream.base, { progress: upstream.hangUp })).toMatchObject({
      result: { outcome: "saved" },
      saved: BYTES.toString(),
      waits: [1000, 2000],
    });
    expect(ranges(upstream.asked)[2]).toEqual([null, null]);
  });

  test.each([
    ["ranges are not offered", { "accept-ranges": "none" }],
    ["its entity tag is weak", { etag: 'W/"one"' }],
  ])("starts over if %s", async (_, headers) => {
    const upstream = await playRaw([
      { write: rawAnswer("200 OK", { ...RESUMABLE, ...headers }, BYTES.subarray(0, 4000)), ending: "silence" },
      { write: rawAnswer("200 OK", RESUMABLE, BYTES), ending: "end" },
    ]);
    expect(await fetched(upstream.base, { progress: upstream.hangUp })).toMatchObject({
      result: { outcome: "saved" },
      saved: BYTES.toString(),
    });
    expect(ranges(upstream.asked)[1]).toEqual([null, null]);
  });

  test("is never saved as a complete file", async () => {
    const upstream = await playRaw(
      Array.from({ length: 5 }, () => ({
        write: rawAnswer("200 OK", { ...RESUMABLE, "accept-ranges": "none" }, BYTES.subarray(0, 4000)),
        ending: "end" as const,
      })),
    );
    const { result, left } = await fetched(upstream.base);
    expect(result).toMatch(/^Cannot fetch .*: .+ \(tried 5 times\)$/);
    expect(left).toEqual([]);
  });

  test("is not saved as complete if its chunks end early", async () => {
    const pieces = rawAnswer("200 OK", { ...HEADERS, "transfer-encoding": "chunked" }, Buffer.from("5\r\nhello\r\n"));
    const upstream = await playRaw(Array.from({ length: 5 }, () => ({ write: pieces, ending: "end" as const })));
    expect((await fetched(upstream.base)).result).toMatch(/^Cannot fetch .* \(tried 5 times\)$/);
  });
});

describe("what is refused at once", () => {
  test.each([
    ["text/html; charset=utf-8", "it has the content type text/html, not text/csv"],
    ["application/json", "it has the content type application/json, not text/csv"],
  ])("is a response of type %p", async (type, reason) => {
    const { base } = play(() => new Response(Buffer.from("<html>Down for maintenance</html>"), { headers: { "content-type": type } }));
    expect(await fetched(base)).toMatchObject({ result: `Cannot fetch ${base}file.csv: ${reason}`, waits: [], left: [] });
  });

  test("is a file that is too large, by its length, while it is read, or decompressed", async () => {
    const stated = play(() => new Response(BYTES, { headers: HEADERS }));
    expect(await fetched(stated.base, { bytesMax: 9999 })).toMatchObject({
      result: `Cannot fetch ${stated.base}file.csv: it has more than 0.01 MiB`,
      left: [],
    });

    const endless = play(() => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(BYTES) }), { headers: HEADERS }));
    expect(await fetched(endless.base, { bytesMax: 50_000 })).toMatchObject({
      result: `Cannot fetch ${endless.base}file.csv: it has more than 0.048 MiB`,
      waits: [],
      left: [],
    });

    const packed = Bun.gzipSync(new Uint8Array(1_000_000));
    const small = play(() => new Response(packed, { headers: { ...HEADERS, "content-encoding": "gzip" } }));
    expect(await fetched(small.base, { bytesMax: 50_000 })).toMatchObject({
      result: `Cannot fetch ${small.base}file.csv: it has more than 0.048 MiB`,
      left: [],
    });
  });

  test("is an http URL, unless http is allowed", async () => {
    const { base, asked } = play(whole);
    const { host } = new URL(base);
    expect(await fetched(base, { allowHttp: false })).toMatchObject({
      result: `Cannot fetch ${base}file.csv: http://${host} is not https; use --allow-http to fetch without TLS`,
    });
    expect(asked).toEqual([]);
  });
});

describe("a redirect", () => {
  const to = (location: string, code = 302) => new Response(null, { status: code, headers: { location } });

  test.each([301, 302, 303, 307, 308])("with %i is followed to a host on the list", async (code) => {
    const other = play(whole);
    const upstream = play(() => to(`${other.base}signed?token=secret`, code));
    const hosts = [upstream.base, other.base].map((base) => new URL(base).host);
    expect(await fetched(upstream.base, { hosts })).toMatchObject({ result: { outcome: "saved" }, saved: BYTES.toString() });
    expect(other.asked.map(({ path, query }) => [path, query.get("token")])).toEqual([["/signed", "secret"]]);
  });

  test("to another path of the same host is followed", async () => {
    const upstream = play(({ path }) => (path === "/file.csv" ? to("/elsewhere/file.csv") : whole()));
    expect(await fetched(upstream.base)).toMatchObject({ result: { outcome: "saved" } });
  });

  test.each([
    ["another host", "https://evil.example/file.csv", "it redirects to evil.example, which is not one of its hosts"],
    ["another port", "http://127.0.0.1:1/file.csv", "it redirects to 127.0.0.1:1, which is not one of its hosts"],
    ["a host that looks alike", "https://127.0.0.1.evil.example/", "it redirects to 127.0.0.1.evil.example, which is not"],
    ["a file", "file:///etc/passwd", "it redirects to , which is not one of its hosts"],
    ["nowhere", "https://", "it redirects without a valid address"],
  ])("to %s fails, and the message names it", async (_, location, reason) => {
    const { base } = play(() => to(location));
    const { result, waits, left } = await fetched(base);
    expect(result).toStartWith(`Cannot fetch ${base}file.csv: ${reason}`);
    expect(waits).toEqual([]);
    expect(left).toEqual([]);
  });

  test("to itself ends", async () => {
    const upstream = play(() => to("/file.csv"));
    expect(await fetched(upstream.base)).toMatchObject({
      result: `Cannot fetch ${upstream.base}file.csv: it redirects more than 5 times`,
      waits: [],
    });
    expect(upstream.asked).toHaveLength(6);
  });

  test("from https to http fails, even if http is allowed", async () => {
    const { host } = new URL("https://upstream.example/");
    const network = spyOn(globalThis, "fetch").mockImplementation(
      Object.assign(async () => to(`http://${host}/file.csv`), { preconnect: fetch.preconnect }),
    );
    try {
      expect(await fetched(`https://${host}/`)).toMatchObject({
        result: `Cannot fetch https://${host}/file.csv: it redirects from https to http://${host}`,
        waits: [],
      });
      expect(network).toHaveBeenCalledTimes(1);
    } finally {
      network.mockRestore();
    }
  });

  test("of a POST request fails", async () => {
    const { base } = play(() => to("/elsewhere", 307));
    const request = { url: new URL(base), types: ["application/json"], bytesMax: 1000, body: { opportunityId: 1 } };
    const path = join(aDirectory(), "answer.json");
    await expect(download(aNet(base), request, path)).rejects.toThrow("it redirects a POST request");
  });
});

test("A key in a query is in no message", async () => {
  const answers = [
    () => status(403),
    () => status(500),
    () => new Response("x"),
    () => new Response(null, { status: 302, headers: { location: "https://evil.example/?key=secret" } }),
  ];
  for (const answer of answers) expect((await fetched(play(answer).base)).result).not.toContain("secret");
});

test.each(["very-secret", "k1", "a b/c"])("the key %p is in no report of a request", async (key) => {
  const { base } = play(() => whole());
  const exchanges: Exchange[] = [];
  const url = new URL(`file.csv?${new URLSearchParams({ api_key: key, limit: "1" })}`, base);
  const net = aNet(base, { fetch: recordingFetch(exchanges, key, () => 0) });
  await download(net, { url, types: ["text/csv"], bytesMax: 100_000, key }, `${aDirectory()}/file.csv`);
  expect(exchanges.map((exchange) => exchange.url)).toEqual([`${base}file.csv?api_key=…&limit=1`]);
});
