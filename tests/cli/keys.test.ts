import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openState } from "../../db/sqlite/open.ts";
import { dayOf } from "../../src/quota/allowance.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const DAY = 86_400_000;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let data: string;
beforeEach(() => {
  data = join(aDirectory(), "data");
});

/** A clock by which no two keys are made in one millisecond: their order would be that of their random ids. */
let now = Date.UTC(2026, 2, 1);
const keys = (line: string) => fundfeed(["keys", ...line.split(" "), "--data", data], {}, () => ++now);
type Listed = { id: string; state: string; label: string; created_at: string; expires_at: string | null };
const listed = async () => JSON.parse((await keys("list --json")).out) as Listed[];
const newId = async (line: string) => (JSON.parse((await keys(`create ${line} --json`)).out) as { id: string }).id;

describe("keys create --expires", () => {
  test("accepts a duration or a timestamp, and keys list shows the expiry", async () => {
    expect((await keys("create --account A --expires 90d")).out).toMatch(/^ffk_live_\w{38}\n$/);
    expect((await keys("create --account A --expires 2199-01-31T17:00:00-05:00")).err).toContain(
      ' of account "A" on plan trial, valid until 2199-01-31T22:00:00.000Z. ',
    );
    const [first, second] = await listed();
    expect(Date.parse(first?.expires_at ?? "") - Date.parse(first?.created_at ?? "")).toBeWithin(90 * DAY - 10_000, 90 * DAY + 1);
    expect(second?.expires_at).toBe("2199-01-31T22:00:00.000Z");
    expect((await keys("list")).out).toMatch(
      /^key_.*\n.*\nkey_\w+ {2}…\w{4} {2}active {3}A\n {2}created \S+ \S+, never used, expires 2199-01-31 22:00:00Z\n$/,
    );
    expect(await keys("create --account A --expires 1999-01-31T17:00:00Z")).toEqual({
      code: 1,
      out: "",
      err: "Cannot create key: its expiry is in the past\n",
    });
  });
});

test("keys list shows which keys are active, expired or revoked", async () => {
  const [, revoked, expired] = [await newId("--account A"), await newId("--account A"), await newId("--account A")];
  await keys(`revoke ${revoked}`);
  const db = openState(data, now);
  for (const id of [revoked, expired])
    db.sqlite.query("update keys set expires_at = ? where id = ?").run(Date.parse("2026-01-31T17:00:00Z"), id);
  db.sqlite.close(true);
  expect((await listed()).map(({ state }) => state)).toEqual(["active", "revoked", "expired"]);
  const { out } = await keys("list");
  expect(out.match(/(active|revoked|expired) +A$/gm)).toEqual(["active   A", "revoked  A", "expired  A"]);
  expect(out.replaceAll(/\s+/g, " ").match(/never used, expired 2026-01-31 17:00:00Z/g)).toHaveLength(2);
  expect(out).not.toContain("expires");
});

describe("keys rotate", () => {
  test("prints only the new key on standard output, and until when the old one is valid", async () => {
    const id = await newId("--account A --label sync");
    const { code, out, err } = await keys(`rotate ${id} --grace 6h`);
    expect([code, out]).toEqual([0, expect.stringMatching(/^ffk_live_\w{38}\n$/)]);
    const [old, made] = await listed();
    expect([old?.id, made?.label, made?.expires_at]).toEqual([id, "sync", null]);
    expect(err).toBe(
      `Created key ${made?.id} of account "A" on plan trial. Store it now: it cannot be shown again.\nThe old key ${id} is valid until ${old?.expires_at}.\n`,
    );
  });

  test("with --json prints everything in one document", async () => {
    const id = await newId("--account A");
    const { out, err } = await keys(`rotate ${id} --expires 2199-01-31T17:00:00Z --json`);
    expect([JSON.parse(out), err]).toEqual([
      {
        id: expect.stringMatching(/^key_/),
        key: expect.stringMatching(/^ffk_live_/),
        account: "A",
        plan: "trial",
        expires_at: "2199-01-31T17:00:00.000Z",
        replaced: { id, expires_at: expect.stringMatching(INSTANT) },
      },
      "",
    ]);
  });
});

describe("keys usage", () => {
  test("shows requests by day and key, as a table and as JSON", async () => {
    const [first, second] = [await newId("--account A --label sync"), await newId("--account B")];
    const today = dayOf(now);
    const db = openState(data, now);
    const use = db.sqlite.query("insert into use (key_id, day, count) values (?, ?, ?)");
    for (const row of [
      [first, today - 1, 12_345],
      [second, today - 1, 6],
      [first, today - 40, 7],
    ] as const)
      use.run(...row);
    db.sqlite.close(true);
    expect((await keys("usage")).out).toMatch(
      /^day +id +account +label +requests\n\d{4}-\d\d-\d\d +key_\w+ +A +sync +12,345\n\S+ +key_\w+ +B +– +6\n$/,
    );
    expect(JSON.parse((await keys(`usage ${first} --days 60 --json`)).out)).toEqual([
      { day: expect.any(String), id: first, account: "A", label: "sync", requests: 12_345 },
      { day: expect.any(String), id: first, account: "A", label: "sync", requests: 7 },
    ]);
    expect((await keys("usage --days 1")).out).toBe("No requests in that time\n");
    expect((await keys("usage nope")).err).toBe(
      'Cannot show the use of key "nope": there is no key with that id; fundfeed keys list shows the ids\n',
    );
  });
});
