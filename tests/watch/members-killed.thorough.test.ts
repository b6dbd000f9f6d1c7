/** Members' watches lose nothing, whichever statement a run or an action is killed at, while other processes write, and on a full disk. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { WatchDb } from "../../db/engine.ts";
import { openWatchFile } from "../../db/sqlite/open.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { addOwnWatch, changeOwn, follow, ownWatch, removeWatchesOf } from "../../src/watch/member-watches.ts";
import type { Message } from "../../src/watch/message.ts";
import { type RunContext, runWatches } from "../../src/watch/run.ts";
import { mute, pause, removeWatch, resume } from "../../src/watch/watches.ts";
import { dropScratch, opportunitiesOf } from "../support/imports.ts";
import { interruptedWatches, unsynced } from "./interrupted-watches.ts";
import { aDefinition, aWatched, textOfWatchFile } from "./watched.ts";

setDefaultTimeout(600_000);
afterAll(dropScratch);

class Killed extends Error {}

/** Throws at the nth step, and counts the steps. */
function killedAt(n: number) {
  const state = { steps: 0 };
  const step = () => {
    if (state.steps++ === n) throw new Killed();
  };
  return { state, step };
}

const RECORDS = 4;
const record = (n: number, day: number) => ({
  source: { code: "OWN", opportunity_id: `N${n}` },
  title: `Title ${n}`,
  status: "open",
  dates: { closes_at: new Date(Date.UTC(2099, 0, 1 + day)).toISOString() },
});
const definition = (title: string) => aDefinition({ title, receiver: { to: "member" } });

describe("a run of the watches of a member that is killed at every step", () => {
  test("tells each change once in each watch, and a mail comes again with the same parts, whatever she edits then", async () => {
    const { take, db, index, file, clock, directory, context } = await aWatched();
    unsynced(file);
    const ids = Array.from({ length: RECORDS }, (_, n) => record(n, 0));
    await take(ids);
    const begin = async (name: string) => {
      const known = (await opportunitiesOf(db)).map(({ id }) => id);
      const feed = await lastOf();
      return addOwnWatch(file, "m", name, definition(name), { at: clock.now, feed, matched: known });
    };
    const lastOf = async () => (await import("../../src/events/feed.ts")).latestPosition(db);
    await begin("a");
    await begin("b");
    const mails = new Map<string, string>();
    const told = new Map<string, Map<string, Message>>();
    let repeated = 0;
    const sendToMember: RunContext["sendToMember"] = async (parts, id) => {
      const text = JSON.stringify(parts.map(({ message: { id, body } }) => [id, body]));
      if (mails.has(id)) {
        repeated++;
        expect(text).toBe(mails.get(id) ?? "");
      }
      mails.set(id, text);
      for (const { watch, message } of parts) {
        const own = told.get(watch.name) ?? new Map<string, Message>();
        told.set(watch.name, own.set(message.id, JSON.parse(message.body)));
      }
    };
    const run = (watches: WatchDb) => runWatches({ ...context(), db: watches, sendToMember });
    const edits = [
      () => changeOwn(file, "m", "a", { title: "Renamed" }),
      async () => {
        const watch = await ownWatch(file, "m", "b");
        if (watch === undefined) throw new Error("there is no watch b");
        await pause(file, watch, "you paused it");
        await run(file);
        await resume(file, watch);
      },
      () => follow(file, "m", "id-of-none", true, { name: "f", at: clock.now, feed: null }),
      () => follow(file, "m", "id-of-none", false, { name: "f", at: clock.now, feed: null }),
    ];
    let rounds = 0;
    for (let isKilled = true; isKilled; rounds++) {
      clock.now += 60_000;
      await take(Array.from({ length: RECORDS }, (_, n) => record(n, rounds + 1)));
      await catchUp(db, index);
      const { step } = killedAt(rounds);
      const outcome = await run(interruptedWatches(file, step)).then(
        () => "ran",
        (error) => error,
      );
      isKilled = outcome instanceof Killed;
      if (!isKilled) expect(outcome).toBe("ran");
      await edits[rounds % edits.length]?.();
      await run(file);
    }
    expect(rounds).toBeGreaterThan(20);
    expect(repeated).toBeGreaterThan(0);
    for (const name of ["a", "b"]) {
      const items = [...(told.get(name)?.values() ?? [])].flatMap(({ data }) => data.events);
      const events = items.flatMap((item) => (item.kind === "changed" ? [item.event.id] : []));
      expect([name, events.length, new Set(events).size]).toEqual([name, rounds * RECORDS, rounds * RECORDS]);
    }
    expect(textOfWatchFile(directory)).not.toContain("id-of-none");
  });
});

describe("an action of a member that is killed at every step", () => {
  const beginning = { at: 0, feed: null, matched: ["id-1", "id-2"] };
  const own = async (db: WatchDb, name: string) => {
    const watch = await ownWatch(db, "m", name);
    if (watch === undefined) throw new Error(`there is no watch ${name}`);
    return watch;
  };
  test.each<[string, (db: WatchDb) => Promise<unknown>]>([
    ["saves a watch", (db) => addOwnWatch(db, "m", "new", definition("new"), beginning)],
    ["follows", (db) => follow(db, "m", "id-3", true, { name: "f", at: 0, feed: null })],
    ["ends that", (db) => follow(db, "m", "id-1", false, { name: "f", at: 0, feed: null })],
    ["edits a watch", (db) => changeOwn(db, "m", "w", { title: "Renamed" }, { joining: ["id-9"], leaving: ["id-1"] })],
    ["mutes", async (db) => mute(db, await own(db, "w"), "id-1", 1)],
    ["pauses", async (db) => pause(db, await own(db, "w"), "you paused it")],
    ["resumes", async (db) => resume(db, await own(db, "w"))],
    ["removes a watch", async (db) => removeWatch(db, await own(db, "w"))],
    ["is ended with all watches", (db) => removeWatchesOf(db, ["m"])],
  ])("%s wholly or not at all", async (_, act) => {
    const { file, directory } = await aWatched();
    unsynced(file);
    await addOwnWatch(file, "m", "w", definition("w"), beginning);
    await addOwnWatch(file, "n", "other", definition("other"), beginning);
    await follow(file, "m", "id-1", true, { name: "f", at: 0, feed: null });
    await pause(file, await own(file, "w"), "a reason");
    const before = textOfWatchFile(directory);
    let n = 0;
    for (let isKilled = true; isKilled; n++) {
      const { step } = killedAt(n);
      isKilled = await act(interruptedWatches(file, step)).then(
        () => false,
        (error) => {
          if (!(error instanceof Killed)) throw error;
          return true;
        },
      );
      if (isKilled) expect(textOfWatchFile(directory)).toBe(before);
    }
    expect(n).toBeGreaterThan(1);
    expect(textOfWatchFile(directory)).not.toBe(before);
    expect(textOfWatchFile(directory)).toContain('"other"');
  });
});

test("an action fails with nothing stored while another program writes, and on a full disk", async () => {
  const { file, directory, clock } = await aWatched();
  await addOwnWatch(file, "m", "w", definition("w"), { at: 0, feed: null, matched: [] });
  const before = textOfWatchFile(directory);
  const other = openWatchFile(directory, clock.now, { waitMs: 0 });
  const save = (name: string) => addOwnWatch(other, "m", name, definition("x".repeat(80)), { at: 0, feed: null, matched: many });
  const many = Array.from({ length: 5000 }, (_, n) => `id-${n}`);
  file.sqlite.run("begin immediate");
  await expect(save("locked")).rejects.toThrow(/locked|busy/i);
  file.sqlite.run("rollback");
  expect(textOfWatchFile(directory)).toBe(before);
  const [{ page_count } = { page_count: 0 }] = other.sqlite.query<{ page_count: number }, []>("pragma page_count").all();
  other.sqlite.run(`pragma max_page_count = ${page_count}`); // SQLite then says of every write what it says of a full disk.
  await expect(save("full")).rejects.toThrow(/full/i);
  expect(textOfWatchFile(directory)).toBe(before);
  other.sqlite.run("pragma max_page_count = 1000000");
  expect(await save("later")).toBeUndefined();
  await other.close();
});
