/** RFC 9110 §12.5.3: content codings as a client requests and receives them. */
import { describe, expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { compress, preferredCoding } from "../../src/http/respond.ts";
import { decodedText } from "../support/described.ts";
import { expectProblem } from "../support/problem.ts";
import { rawServer, sendRaw } from "../support/raw.ts";
import { sixtyApi, U, X } from "../support/sixty.ts";

describe("preferredCoding()", () => {
  test.each<[string | null, ReturnType<typeof preferredCoding>]>([
    [null, null],
    ["", null],
    ["gzip", "gzip"],
    ["GZip", "gzip"],
    ["x-gzip", "gzip"],
    ["zstd", "zstd"],
    ["gzip, deflate, br", "gzip"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip;q=1.0, zstd;q=0.5", "gzip"],
    ["gzip;q=0.5,\tzstd ; q=0.501", "zstd"],
    ["*", "gzip"],
    ["*;q=0.1", "gzip"],
    ["gzip;q=0, *", null],
    ["zstd;q=0, *", "gzip"],
    ["*;q=0", null],
    ["identity", null],
    ["identity, gzip;q=0.5", null],
    ["identity;q=0.5, gzip", "gzip"],
    ["identity;q=0", null],
    ["gzip;q=0.0", null],
    ["gzip;q=2", null],
    ["gzip;q=", null],
    ["gzip;level=9", null],
    ["gzipped, brotli", null],
    [",, gzip ,", "gzip"],
    ["deflate, compress", null],
  ])("chooses for Accept-Encoding %p: %p", (accepted, coding) => expect(preferredCoding(accepted)).toBe(coding));
});

describe("compress()", () => {
  const large = Buffer.from(Array.from({ length: 10_000 }, (_, n) => `${n} × ${n * n}\n`).join(""));

  test.each([
    ["gzip", gunzipSync],
    ["zstd", zstdDecompressSync],
  ] as const)("in %s compresses a small body in this thread and a large one in another", async (coding, decode) => {
    expect(compress("small ×", coding)).not.toBeInstanceOf(Promise);
    expect(decode(await compress("small ×", coding)).toString()).toBe("small ×");
    expect(compress(large, coding)).toBeInstanceOf(Promise);
    expect(decode(await compress(large, coding)).equals(large)).toBe(true);
  });
});

const api = await sixtyApi();

type Sent = Record<string, string>;
const ask = (path: string, accepted: string | null, headers: Sent = {}) =>
  api.get(path, { headers: { ...headers, ...(accepted !== null && { "Accept-Encoding": accepted }) } });
const coding = ({ headers }: Response) => headers.get("content-encoding");
const bytes = async (response: Response) => (await response.clone().bytes()).length;
const dataOf = async (response: Response) => JSON.parse(await decodedText(response)).data;

describe("a body over 1 KiB", () => {
  test.each(["gzip", "zstd"])("in %s has the same data in fewer bytes", async (wanted) => {
    const plain = await ask("/opportunities?limit=25", null);
    const compressed = await ask("/opportunities?limit=25", wanted);
    expect([coding(plain), coding(compressed)]).toEqual([null, wanted]);
    expect(await dataOf(compressed)).toEqual(await dataOf(plain));
    expect(await bytes(compressed)).toBeLessThan((await bytes(plain)) / 4);
    expect(compressed.headers.get("content-type")).toBe("application/json");
    expect(compressed.headers.get("ratelimit-limit")).toBe("1000000");
  });

  test.each([null, "", "identity", "br", "gzip;q=0"])("is not compressed for Accept-Encoding %p", async (accepted) => {
    const response = await ask("/opportunities?limit=25", accepted);
    expect([coding(response), JSON.parse(await response.text()).data.length]).toEqual([null, 25]);
  });

  test("is complete over a connection, with its length", async () => {
    const server = await rawServer(api);
    const key = `Authorization: Bearer ${api.key}`;
    const lines = ["GET /v1/opportunities?limit=25 HTTP/1.1", "Host: localhost", "Connection: close", key];
    const response = await sendRaw(server.port, [...lines, "Accept-Encoding: gzip"]);
    if (response === undefined) throw new Error("No response");
    expect([coding(response), Number(response.headers.get("content-length"))]).toEqual(["gzip", await bytes(response)]);
    expect(await dataOf(response)).toHaveLength(25);
    const decoded = await fetch(`http://127.0.0.1:${server.port}/v1/opportunities`, { headers: { Authorization: `Bearer ${api.key}` } });
    expect(((await decoded.json()) as { data: unknown[] }).data).toHaveLength(25);
    await server.stop();
  });

  test("is compressed in a problem, too", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `unknown_${n}=1`).join("&");
    const response = await ask(`/opportunities?${names}`, "gzip");
    expect([response.status, coding(response)]).toEqual([400, "gzip"]);
    expect(JSON.parse(await decodedText(response)).errors.length).toBeGreaterThan(10);
  });
});

describe("a small body", () => {
  test.each(["/meta", "/opportunities?source=NONE", "/docs/script-1.js"])("of %s is not compressed", async (path) => {
    const response = await ask(path, "gzip, zstd");
    expect([response.status, coding(response)]).toEqual([200, null]);
  });

  test("of a problem is not compressed, and has Vary", async () => {
    const response = await ask(`/opportunities/${X}`, "gzip");
    expect(coding(response)).toBeNull();
    await expectProblem(response, { code: "not_found" });
  });
});

describe("Vary", () => {
  test.each(["/meta", "/sources", `/opportunities/${U}`, "/opportunities", "/docs", "/openapi.json", "/nope"])("is on %s", async (path) => {
    for (const accepted of [null, "gzip"]) expect((await ask(path, accepted)).headers.get("vary")).toBe("Accept-Encoding");
  });
});

describe("entity tags", () => {
  test.each([`/opportunities/${U}`, "/docs", "/openapi.json"])(
    "of %s are weak, the same in every coding, and return 304 in each",
    async (path) => {
      const tags = await Promise.all([null, "gzip", "zstd"].map(async (accepted) => (await ask(path, accepted)).headers.get("etag") ?? ""));
      const [tag = ""] = tags;
      expect(tag).toStartWith('W/"');
      expect(new Set(tags).size).toBe(1);
      for (const accepted of [null, "gzip", "zstd"]) {
        const again = await ask(path, accepted, { "If-None-Match": tag });
        expect([again.status, await again.text(), coding(again), again.headers.get("vary")]).toEqual([304, "", null, "Accept-Encoding"]);
      }
    },
  );
});
