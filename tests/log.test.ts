import { describe, expect, test } from "bun:test";
import { createLog, type LogFormat, type LogLevel, type RequestEntry } from "../src/log.ts";

const ENTRY: RequestEntry = {
  time: Date.UTC(2026, 2, 1),
  request_id: "abc",
  method: "GET",
  route: "/opportunities",
  status: 200,
  duration_ms: 3,
  account: "Acme",
  key_id: "key_1",
};

function written(format: LogFormat, level?: LogLevel) {
  const chunks: string[] = [];
  return { chunks, log: createLog(format, (lines) => void chunks.push(lines), level) };
}

describe("createLog()", () => {
  test("holds entries back until it is flushed, and then loses none", () => {
    const { chunks, log } = written("json");
    log.request(ENTRY);
    log.request({ ...ENTRY, route: null, account: null, key_id: null });
    expect(chunks).toEqual([]);
    log.flush();
    log.flush();
    expect(chunks).toHaveLength(1);
    expect((chunks[0] ?? "").split("\n").map((line) => (line === "" ? "" : JSON.parse(line)))).toEqual([
      { ...ENTRY, time: "2026-03-01T00:00:00.000Z" },
      { ...ENTRY, time: "2026-03-01T00:00:00.000Z", route: null, account: null, key_id: null },
      "",
    ]);
  });

  test("writes a full batch at once", () => {
    const { chunks, log } = written("json");
    for (let n = 0; n < 1000; n++) log.request(ENTRY);
    expect(chunks).toHaveLength(1);
    log.flush();
    expect(chunks.join("").split("\n")).toHaveLength(1001);
  });

  test("writes a failure on one line at once, after what came before it", () => {
    const { chunks, log } = written("json");
    log.request(ENTRY);
    log.failure(ENTRY.time, new Error("It broke\nin two"), "abc");
    const lines = chunks.join("").trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      time: "2026-03-01T00:00:00.000Z",
      level: "error",
      request_id: "abc",
      error: expect.stringContaining("It broke\nin two"),
    });
  });

  test("has a form for people", () => {
    const { chunks, log } = written("text");
    log.request(ENTRY);
    log.request({ ...ENTRY, route: null, account: null, key_id: null });
    log.failure(ENTRY.time, "no Error at all", null);
    expect(chunks.join("")).toBe(
      '2026-03-01T00:00:00.000Z 200 GET /opportunities 3 ms abc "Acme" key_1\n' +
        "2026-03-01T00:00:00.000Z 200 GET - 3 ms abc\n" +
        "2026-03-01T00:00:00.000Z error - Thrown: no Error at all\n",
    );
  });

  test.each<[LogLevel, string[]]>([
    ["request", ["request", "failure", "notice"]],
    ["failure", ["failure", "notice"]],
    ["none", []],
  ])("at level %s writes %p", (level, kinds) => {
    const { chunks, log } = written("json", level);
    log.request(ENTRY);
    log.failure(ENTRY.time, new Error("It broke"), null);
    log.notice(ENTRY.time, "All is well");
    log.flush();
    const lines = chunks.map((line) => JSON.parse(line));
    const seen = lines.map((line) => ("status" in line ? "request" : "error" in line ? "failure" : line.level));
    expect(seen).toEqual(kinds);
    if (kinds.length > 0) expect(lines.at(-1)).toEqual({ time: "2026-03-01T00:00:00.000Z", level: "notice", message: "All is well" });
  });
});
