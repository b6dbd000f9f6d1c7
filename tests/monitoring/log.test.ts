import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { createLog, type LogFormat, type LogLevel } from "../../src/monitoring/log.ts";
import { requestEntry } from "../support/request-entry.ts";

function written(format: LogFormat, level?: LogLevel) {
  const chunks: string[] = [];
  return { chunks, log: createLog(format, (lines) => void chunks.push(lines), level) };
}

describe("createLog()", () => {
  test("holds entries back until it is flushed, and then loses none", () => {
    const { chunks, log } = written("json");
    log.request(requestEntry);
    log.request({ ...requestEntry, route: null, account: null, key_id: null });
    expect(chunks).toEqual([]);
    log.flush();
    log.flush();
    expect(chunks).toHaveLength(1);
    expect((chunks[0] ?? "").split("\n").map((line) => (line === "" ? "" : JSON.parse(line)))).toEqual([
      { ...requestEntry, time: "2026-03-01T00:00:00.000Z" },
      { ...requestEntry, time: "2026-03-01T00:00:00.000Z", route: null, account: null, key_id: null },
      "",
    ]);
  });

  test("writes a full batch at once", () => {
    const { chunks, log } = written("json");
    for (let n = 0; n < 1000; n++) log.request(requestEntry);
    expect(chunks).toHaveLength(1);
    log.flush();
    expect(chunks.join("").split("\n")).toHaveLength(1001);
  });

  test("writes a failure on one line at once, after what came before it", () => {
    const { chunks, log } = written("json");
    log.request(requestEntry);
    log.failure(requestEntry.time, new Error("It broke\nin two"), "abc");
    const lines = chunks.join("").trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      time: "2026-03-01T00:00:00.000Z",
      level: "error",
      request_id: "abc",
      error: expect.stringContaining("It broke\nin two"),
    });
  });

  test("writes text for people", () => {
    const { chunks, log } = written("text");
    log.request(requestEntry);
    log.request({ ...requestEntry, route: null, account: null, key_id: null });
    log.failure(requestEntry.time, "no Error at all", null);
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
    log.request(requestEntry);
    log.failure(requestEntry.time, new Error("It broke"), null);
    log.notice(requestEntry.time, "All is well");
    log.flush();
    const lines = chunks.map((line) => JSON.parse(line));
    const seen = lines.map((line) => ("status" in line ? "request" : "error" in line ? "failure" : line.level));
    expect(seen).toEqual(kinds);
    if (kinds.length > 0) expect(lines.at(-1)).toEqual({ time: "2026-03-01T00:00:00.000Z", level: "notice", message: "All is well" });
  });
});

describe("recurring failures", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const away = (message: string) => Object.assign(new Error(message), { code: "ERR_POSTGRES_CONNECTION_CLOSED" });
  const told = (chunks: string[]) =>
    chunks.splice(0).map((line) => {
      const { request_id, error, left_out } = JSON.parse(line);
      return [request_id, /Error: (.*)/.exec(error)?.[1], left_out];
    });

  test("are written once, then the newest of each minute with the number left out, until a minute has none", () => {
    const { chunks, log } = written("json");
    for (let n = 1; n <= 4; n++) log.recurring(requestEntry.time, away(`Away ${n}`), `${n}`);
    expect(told(chunks)).toEqual([["1", "Away 1", undefined]]);
    jest.advanceTimersByTime(59_999);
    expect(told(chunks)).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(told(chunks)).toEqual([["4", "Away 4", 2]]);
    log.recurring(requestEntry.time, away("Away 5"), "5");
    jest.advanceTimersByTime(60_000);
    expect(told(chunks)).toEqual([["5", "Away 5", undefined]]);
    jest.advanceTimersByTime(120_000);
    expect(told(chunks)).toEqual([]);
    log.recurring(requestEntry.time, away("Away again"), "6");
    expect(told(chunks)).toEqual([["6", "Away again", undefined]]);
  });

  test("are grouped by message, and all failures of an unavailable database together", () => {
    const { chunks, log } = written("json");
    for (let n = 0; n < 3; n++) for (const message of ["full", "gone"]) log.recurring(requestEntry.time, new Error(message), null);
    for (const message of ["refused", "closed"]) log.recurring(requestEntry.time, away(message), null);
    expect(told(chunks)).toEqual([
      [null, "full", undefined],
      [null, "gone", undefined],
      [null, "refused", undefined],
    ]);
    log.flush();
    expect(told(chunks)).toEqual([
      [null, "full", 1],
      [null, "gone", 1],
      [null, "closed", undefined],
    ]);
    log.flush();
    jest.advanceTimersByTime(120_000);
    expect(told(chunks)).toEqual([]);
  });

  test("are written as text, and not at all at level none", () => {
    const [text, none] = [written("text"), written("json", "none")];
    for (const { log } of [text, none]) {
      for (let n = 0; n < 4; n++) log.recurring(requestEntry.time, "no Error at all", "abc");
      log.flush();
    }
    expect(text.chunks.join("")).toBe(
      "2026-03-01T00:00:00.000Z error abc Thrown: no Error at all\n" +
        "2026-03-01T00:00:00.000Z error abc (2 before it left out) Thrown: no Error at all\n",
    );
    expect(none.chunks).toEqual([]);
  });
});
