/** What a run of the watches delivers. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { catchUp } from "../../src/search/catch-up.ts";
import { DeliveryError } from "../../src/watch/attempts.ts";
import { matchesAtEnd } from "../../src/watch/matching.ts";
import { accept, listDeliveries, pendingOf, watchStatusOf } from "../../src/watch/pending.ts";
import { countMatched, positionOf } from "../../src/watch/position.ts";
import { nextTimes, runWatches } from "../../src/watch/run.ts";
import { addWatch, changeWatch, pause, removeWatch, resume, resumeAt } from "../../src/watch/watches.ts";
import { engines } from "../support/engines.ts";
import { DAY, dropScratch, NOON, SECOND } from "../support/imports.ts";
import { interruptedCatalog } from "../support/interrupted-catalog.ts";
import { rawSql } from "../support/sql.ts";
import { aWatched, theWatch, type Watched } from "./watched.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const record = (id: string, fields: object = {}) => ({
  source: { code: "OWN", opportunity_id: id },
  title: "Quantum sensing",
  status: "open",
  ...fields,
});
const closing = (closes_at: string) => ({ dates: { closes_at } });

async function after({ clock, take, run }: Watched, ...records: object[]): Promise<void> {
  clock.now += SECOND;
  if (records.length > 0) await take(records);
  await run();
}

describe.each(engines)("runWatches() on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("tells what is new, what has changed and what no longer matches apart, each once and in this order", async () => {
    const watched = await aWatched(await emptyCatalog());
    await watched.take([record("old"), record("other", { title: "Something else" })]);
    await watched.add("q", { filter: { words: "quantum", status: ["open"] } });
    await after(watched);
    expect(watched.received).toEqual([]);
    await after(watched, record("new"), record("old", closing("2026-05-01T00:00:00Z")), record("other", { title: "Quantum after all" }));
    expect(watched.items().slice(0, 2).sort()).toEqual(["new new", "new other"]); // Stored at one instant.
    expect(watched.items().slice(2)).toEqual(["changed old date_changed"]);
    watched.received.length = 0;
    await after(watched, record("old", { status: "cancelled", ...closing("2026-05-01T00:00:00Z") }));
    expect(watched.items()).toEqual(["changed old status_changed", "left old"]);
    await after(watched, record("old", { status: "archived", ...closing("2026-05-01T00:00:00Z") }));
    expect(watched.items()).toHaveLength(2);
  });
});

describe("a message", () => {
  test("has the severities that were asked for, and never noise by default", async () => {
    const watched = await aWatched();
    await watched.take([record("1", { description: "One text", summary: "s" })]);
    await watched.add("material");
    await watched.add("all", { at_least: "noise" });
    await after(watched, record("1", { title: "Quantum, sensing", description: "Another text", summary: "s" }));
    expect(watched.received.map(({ data }) => data.watch)).toEqual(["all"]);
    expect(watched.received[0]?.data.events).toMatchObject([{ kind: "changed", event: { severity: "informational" } }]);
  });

  test("has at most 100 items, and the next one follows in the same run, in the order of the feed", async () => {
    const watched = await aWatched();
    const many = Array.from({ length: 130 }, (_, n) => `N${n}`);
    await watched.add("q");
    await after(watched, ...many.map((id) => record(id)));
    expect(watched.received.map(({ data }) => data.counts)).toEqual([
      { new: 100, changed: 0, due: 0, left: 0 },
      { new: 30, changed: 0, due: 0, left: 0 },
    ]);
    watched.received.length = 0;
    await after(watched, ...many.map((id) => record(id, { status: "cancelled" })));
    expect(watched.received.map(({ data }) => data.counts.changed)).toEqual([100, 30]);
    const changed = watched.received.flatMap(({ data }) => data.events.map((item) => item.kind === "changed" && item.event.id));
    const stored = await watched.db.all(rawSql<{ id: string }>("select id from events where type = 'status_changed' order by seq"));
    expect(changed).toEqual(stored.map(({ id }) => id));
  });

  test("says that something left only after its last change, even if that is in another message", async () => {
    const watched = await aWatched();
    const many = Array.from({ length: 101 }, (_, n) => `N${n}`);
    await watched.take(many.map((id) => record(id)));
    await watched.add("q", { filter: { status: ["open"] } });
    await after(watched, ...many.map((id) => record(id, { status: "cancelled" })));
    expect(watched.received.map(({ data }) => data.counts)).toEqual([
      { new: 0, changed: 100, due: 0, left: 0 },
      { new: 0, changed: 1, due: 0, left: 99 },
      { new: 0, changed: 0, due: 0, left: 2 },
    ]);
    await after(watched);
    expect(watched.received).toHaveLength(3);
  });

  test("follows filters that are relative to the time, although nothing was imported", async () => {
    const watched = await aWatched();
    await watched.take([record("soon", closing("2026-03-05T12:00:00Z")), record("later", closing("2026-04-20T12:00:00Z"))]);
    await watched.add("q", { filter: { closes_after: "0d", closes_before: "30d" } });
    watched.clock.now = NOON + 30 * DAY;
    await watched.run();
    expect(watched.items()).toEqual(["new later", "left soon"]);
  });

  test("never has values of contacts, whatever the event calls them, and no description", async () => {
    const watched = await aWatched();
    const contacts = [{ name: "Ann Example", email: "ann@example.gov" }];
    await watched.take([record("1", { description: "Long text", contacts })]);
    await watched.add("q", { at_least: "noise" });
    await watched.takeEvents([
      {
        source: { code: "OWN", opportunity_id: "1" },
        type: "field_updated",
        severity: "material",
        summary: "Call Ann Example, ann@example.gov",
        changed_fields: ["poc_email"],
        changes: [{ field: "poc_email", previous: null, current: "ann@example.gov" }],
        detected_at: "2026-01-01T00:00:00Z",
      },
    ]);
    await after(
      watched,
      record("1", { description: "Long text", contacts: [{ name: "Bob Example", phone: "555-0100" }] }),
      record("2", { contacts }),
    );
    expect(watched.items()).toEqual(["new 2", "changed 1 field_updated", "changed 1 field_updated"]);
    expect(JSON.stringify(watched.received)).not.toMatch(/example\.gov|Ann|Bob|555-0100|Long text/);
  });

  test("cuts long texts", async () => {
    const watched = await aWatched();
    await watched.take([record("1", { eligibility: { requirements: "short" } })]);
    await watched.add("q");
    await after(watched, record("1", { eligibility: { requirements: "x".repeat(50_000) } }));
    expect(watched.received[0]?.data.events).toMatchObject([
      { event: { changes: [{ previous: "short", current: `${"x".repeat(2000)}…` }] } },
    ]);
  });

  const keywords = (count: number, length = 0) => ({
    classifications: { keywords: Array.from({ length: count }, (_, n) => `${n}`.padEnd(length, "x")) },
  });

  test("cuts long lists, in the opportunity and in the event", async () => {
    const watched = await aWatched();
    await watched.take([record("1", keywords(2)), record("2", keywords(100))]);
    await watched.add("q", { at_least: "noise" });
    await after(watched, record("1", keywords(10_000)), record("2", keywords(100)));
    const cut = [...keywords(100).classifications.keywords, "…"];
    expect(watched.received[0]?.data.events).toMatchObject([
      { event: { changes: [{ previous: ["0", "1"], current: cut }] }, opportunity: { classifications: { keywords: cut } } },
    ]);
  });

  test("has at most 256 KB, and what there is no room for follows in the same run, in order", async () => {
    const watched = await aWatched();
    const ids = Array.from({ length: 12 }, (_, n) => `N${n}`);
    const all = (kind: string) => ids.map((id) => `${kind} ${id}`);
    const expectMessages = (expected: readonly string[]) => {
      expect(watched.items().toSorted()).toEqual(expected.toSorted());
      expect(watched.items().map((item) => item.split(" ")[0])).toEqual(expected.map((item) => item.split(" ")[0]));
      for (const message of watched.received) expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(256 * 1024);
      expect(watched.received.map(({ data }) => data.counts.new + data.counts.changed + data.counts.left)).toEqual(
        watched.received.map(({ data }) => data.events.length),
      );
      watched.received.length = 0;
    };
    await watched.add("q", { at_least: "noise", filter: { status: ["open"] } });
    await after(watched, ...ids.map((id) => record(id, keywords(60, 1500))));
    expectMessages(all("new"));
    await after(watched, ...ids.map((id) => record(id, { ...keywords(60, 2000) })));
    expectMessages(ids.flatMap((id) => [`changed ${id} field_updated`]));
    await after(watched, ...ids.map((id) => record(id, { ...keywords(60, 2000), status: "closed" })));
    const changed = watched.received.flatMap(({ data }) => data.events.map((item) => item.kind === "changed" && item.event.id));
    const stored = await watched.db.all(rawSql<{ id: string }>("select id from events where type = 'status_changed' order by seq"));
    expect(changed.slice(0, ids.length)).toEqual(stored.map(({ id }) => id));
    expectMessages([...ids.map((id) => `changed ${id} status_changed`), ...all("left")]);
  });

  test("has at most 256 KB if it is a digest, which counts the rest", async () => {
    const watched = await aWatched();
    await watched.add("q", { receiver: { to: "smtp", url: { variable: "X" }, mail_to: "ann@example.org", mail_from: "f@example.org" } });
    await after(watched, ...Array.from({ length: 12 }, (_, n) => record(`N${n}`, keywords(60, 1500))));
    const [message, ...others] = watched.received;
    expect([message?.data.counts, others]).toEqual([{ new: 12, changed: 0, due: 0, left: 0 }, []]);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(256 * 1024);
    expect(message?.data.events.length).toBeGreaterThan(0);
  });

  test("has room for an event of any content", async () => {
    const watched = await aWatched();
    await watched.take([record("1")]);
    await watched.add("q", { at_least: "noise" });
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`n${n}`, "x".repeat(100)]));
    const event = {
      source: { code: "OWN", opportunity_id: "1" },
      type: "field_updated",
      severity: "material",
      detected_at: "2026-01-01T00:00:00Z",
    };
    await watched.takeEvents([{ ...event, changed_fields: ["f0"], changes: [{ field: "f0", previous: null, current: value }] }]);
    await watched.run();
    const [item] = watched.received[0]?.data.events ?? [];
    expect(item).toMatchObject({ event: { changed_fields: ["f0"], changes: [{ field: "f0", previous: "…", current: "…" }] } });
  });
});

describe("a failing receiver", () => {
  const refusing = async () => {
    throw new DeliveryError("Cannot deliver to x: it returned 500");
  };

  test("stops no other watch, and gets the same message again, then what came later", async () => {
    const watched = await aWatched();
    await watched.add("down");
    await watched.add("up");
    const { send } = watched.receiver;
    const bodies: string[] = [];
    watched.receiver.send = async (watch, message, stop) => {
      if (watch.name === "up") return send(watch, message, stop);
      bodies.push(message.body);
      return refusing();
    };
    await after(watched, record("1"));
    expect(watched.items()).toEqual(["new 1"]);
    watched.clock.now += DAY;
    await after(watched, record("2"));
    expect(watched.items()).toEqual(["new 1", "new 2"]);
    expect(new Set(bodies).size).toBe(1);
    expect(bodies.length).toBe(2);

    watched.received.length = 0;
    watched.receiver.send = send;
    watched.clock.now += DAY;
    await after(watched);
    expect(watched.items()).toEqual(["new 1", "new 2"]);
    expect(watched.received[0]).toEqual(JSON.parse(bodies[0] ?? ""));
  });

  test("is asked again with growing delays, and not before they have passed", async () => {
    const watched = await aWatched();
    const watch = await watched.add("q");
    let asked = 0;
    watched.receiver.send = () => {
      asked++;
      return refusing();
    };
    await after(watched, record("1"));
    for (let second = 0; second < 3600; second += 3) {
      watched.clock.now += 3 * SECOND;
      await watched.run();
    }
    expect(asked).toBeGreaterThan(8);
    expect(asked).toBeLessThan(20);
    const [outcome] = await watched.run();
    expect(outcome?.failure?.reason).toBe("Cannot deliver to x: it returned 500");
    expect(outcome?.failure?.retry_at).toBeGreaterThan(watched.clock.now);
    expect(await watchStatusOf(watched.file, watch)).toMatchObject({ failed_total: asked, paused: null });
  });

  test("is paused after three days, and delivers in order after resume, however long the pause was", async () => {
    const watched = await aWatched();
    const watch = await watched.add("q");
    const { send } = watched.receiver;
    watched.receiver.send = refusing;
    await after(watched, record("1"));
    let hours = 0;
    for (; (await watchStatusOf(watched.file, watch)).paused === null && hours < 200; hours++) {
      watched.clock.now += 3600 * SECOND;
      await watched.run();
    }
    expect(hours).toBeGreaterThanOrEqual(72);
    expect(hours).toBeLessThanOrEqual(79);
    expect((await watchStatusOf(watched.file, watch)).paused).toBe("it has failed for three days: Cannot deliver to x: it returned 500");

    watched.receiver.send = send;
    watched.clock.now += 30 * DAY;
    await after(watched, record("2"));
    expect(watched.received).toEqual([]);
    await resume(watched.file, watch);
    await after(watched, record("3"));
    expect(watched.items()).toEqual(["new 1", "new 2", "new 3"]);
  });

  test("has three days again after resume", async () => {
    const watched = await aWatched();
    const watch = await watched.add("q");
    watched.receiver.send = refusing;
    await after(watched, record("1"));
    await pause(watched.file, watch, "it has failed for three days");
    watched.clock.now += DAY;
    await resume(watched.file, watch);
    await watched.run();
    expect((await pendingOf(watched.file, watch))?.attempts).toMatchObject({ count: 2, failing_ms: 0 });
  });

  test("is asked again by a run of its own watch only, and not while that is paused", async () => {
    const watched = await aWatched();
    const [down, up] = [await watched.add("down"), await watched.add("up")];
    watched.receiver.send = async ({ name }) => (name === "down" ? refusing() : undefined);
    await after(watched, record("1"));
    const { file, clock } = watched;
    const [retry, ...others] = await nextTimes(file, [down, up], clock.now);
    expect([retry?.watch, others]).toEqual([down, []]);
    expect(retry?.at).toBeGreaterThan(clock.now);
    await pause(file, down, "why");
    expect(await nextTimes(file, [down], clock.now)).toEqual([]);
  });
});

describe("a watch", () => {
  test("that was removed while its message was on its way leaves nothing behind", async () => {
    const watched = await aWatched();
    const watch = await watched.add("q");
    watched.receiver.send = async () => await removeWatch(watched.file, watch);
    await after(watched, record("1"));
    for (const table of ["watches", "matched", "pending", "pending_matched", "deliveries"])
      expect(watched.file.sqlite.query(`select count(*) as rows from ${table}`).get()).toEqual({ rows: 0 });
  });

  test("that is removed and added again during a run is another watch, with which the run does nothing", async () => {
    const watched = await aWatched();
    await watched.add("q");
    watched.receiver.send = async (old) => {
      watched.received.push(JSON.parse("{}"));
      await removeWatch(watched.file, old);
      const definition = { ...old.definition, filter: { words: "other" } };
      await addWatch(watched.file, "q", [definition], { at: watched.clock.now, feed: null, matched: [] });
    };
    await after(watched, record("1"));
    expect(watched.received).toHaveLength(1);
    const added = await theWatch(watched.file, "q");
    expect(await positionOf(watched.file, added, watched.clock.now)).toMatchObject({ feed: null, matched: new Set() });
    expect(await pendingOf(watched.file, added)).toBeUndefined();
  });

  test("of a catalog that was restored says so, is paused, and can continue with what changes from then on", async () => {
    const watched = await aWatched();
    await watched.add("q");
    await after(watched, record("1"));
    await resumeAt(watched.file, await theWatch(watched.file, "q"), { seq: 1, id: "another event" }, [], watched.clock.now);
    const [outcome] = await watched.run();
    expect(outcome?.paused).toStartWith("its position in the feed is lost: a backup was restored");
    await resumeAt(watched.file, await theWatch(watched.file, "q"), null, [], watched.clock.now);
    expect((await watched.run())[0]?.paused).toBeNull();
  });

  test("that continues at the end takes an import meanwhile as a whole, either before the end or after it", async () => {
    const before = [record("joins", { title: "Other" }), record("stays"), record("leaves")];
    const changes = [
      record("joins"),
      record("stays", closing("2026-05-01T00:00:00Z")),
      record("leaves", { status: "cancelled" }),
      record("new"),
    ];
    const seen = new Set<string>();
    let isImported = true;
    for (let importAt = 0; isImported; importAt++) {
      const watched = await aWatched();
      await watched.take(before);
      await watched.add("q", { filter: { words: "quantum", status: ["open"] } });
      const importChanges = async () => {
        watched.clock.now += SECOND;
        await watched.take(changes);
      };
      let step = 0;
      isImported = false;
      const catalog = interruptedCatalog(watched.db, async () => {
        if (step++ !== importAt) return;
        isImported = true;
        await importChanges();
      });
      const watch = await theWatch(watched.file, "q");
      const { matching, position } = await matchesAtEnd(catalog, watched.index, watch.definition, watched.clock.now);
      if (!isImported) await importChanges();
      await resumeAt(watched.file, watch, position, matching, watched.clock.now);
      await watched.run();
      seen.add(watched.items().sort().join(", "));
    }
    expect([...seen].sort()).toEqual(["", "changed leaves status_changed, changed stays date_changed, left leaves, new joins, new new"]);
  });

  test("that continues at the end during a run has nothing of what the run had read before", async () => {
    const watched = await aWatched();
    await watched.take([record("1"), record("2")]);
    await watched.add("q");
    watched.receiver.send = async (_, { body }) => {
      watched.received.push(JSON.parse(body));
      if (watched.received.length > 1) return;
      watched.clock.now += SECOND;
      await watched.take([record("3"), record("4"), record("2", { status: "cancelled" })]);
      const watch = await theWatch(watched.file, "q");
      const { matching, position } = await matchesAtEnd(watched.db, watched.index, { filter: {} }, watched.clock.now);
      await resumeAt(watched.file, watch, position, matching, watched.clock.now);
    };
    await after(watched, record("1", { status: "cancelled" }));
    expect(watched.items()).toEqual(["changed 1 status_changed"]);
    await after(watched, record("3", { status: "cancelled" }));
    expect(watched.items().slice(1)).toEqual(["changed 3 status_changed"]);
  });

  test("that is changed while its message is on its way gets no second one, and continues with the new definition", async () => {
    const watched = await aWatched();
    await watched.add("q");
    watched.receiver.send = async (old, { body }) => {
      watched.received.push(JSON.parse(body));
      if (watched.received.length > 1) return;
      watched.clock.now += SECOND;
      await watched.take([record("2"), record("3", { title: "Other" })]);
      const definition = { ...old.definition, filter: { words: "quantum" } };
      expect(await changeWatch(watched.file, [{ ...old, definition }], { joining: [], leaving: [] })).toBe(true);
      expect(await changeWatch(watched.file, [{ ...old, definition }], { joining: [], leaving: [] })).toBe(false); // It is another one by now.
    };
    await after(watched, record("1"));
    expect(watched.items()).toEqual(["new 1"]);
    await after(watched, record("1", { status: "cancelled" }));
    expect(watched.items().slice(1)).toEqual(["new 2", "changed 1 status_changed"]);
    expect(await listDeliveries(watched.file, "q", 10)).toHaveLength(2);
  });

  test("reads no document of a change that does not concern it", async () => {
    const watched = await aWatched();
    await watched.take([record("mine"), record("other", { title: "Other" })]);
    await watched.add("q", { filter: { words: "quantum" } });
    watched.clock.now += SECOND;
    const status = { status: "cancelled" };
    await watched.take([record("mine", status), record("other", { title: "Other", ...status })]);
    await catchUp(watched.db, watched.index);
    await watched.db.all(
      rawSql(`update events set document = 'unreadable' where opportunity_seq in
        (select seq from opportunities where document like '%"Other"%') returning seq`),
    );
    await watched.run();
    expect(watched.items()).toEqual(["changed mine status_changed"]);
  });

  test("keeps its last hundred deliveries", async () => {
    const watched = await aWatched();
    const watch = await watched.add("q");
    await watched.take(Array.from({ length: 102 }, (_, n) => record(`${n}`)));
    await catchUp(watched.db, watched.index);
    await runWatches({ ...watched.context(), itemsMax: 1 });
    const deliveries = await listDeliveries(watched.file, "q", 1000);
    expect(deliveries).toHaveLength(100);
    expect(deliveries[0]).toMatchObject({ watch: "q", attempts: 1, counts: { new: 1, changed: 0, due: 0, left: 0 } });
    expect(await watchStatusOf(watched.file, watch)).toMatchObject({ delivered_total: 102 });
    expect(await countMatched(watched.file, watch)).toBe(102);
  });

  test("does not continue after a message that was accepted twice by mistake", async () => {
    const watched = await aWatched();
    const watch = await watched.add("q");
    watched.receiver.send = async () => {
      throw new DeliveryError("Cannot deliver");
    };
    await after(watched, record("1"));
    const pending = await pendingOf(watched.file, watch);
    await accept(watched.file, ["msg_other"], null, watched.clock.now);
    expect(await pendingOf(watched.file, watch)).toEqual(pending);
    expect(await theWatch(watched.file, "q")).toEqual(watch);
  });

  test("leaves the rest to the next run after a time limit", async () => {
    const watched = await aWatched();
    await watched.add("q");
    await watched.take([record("1"), record("2"), record("3")]);
    await catchUp(watched.db, watched.index);
    const run = () => runWatches({ ...watched.context(), itemsMax: 1, timeLimitMs: 0 });
    for (const received of [1, 2, 3, 3]) {
      await run();
      expect(watched.received).toHaveLength(received);
    }
  });

  test("sends nothing more once the program is to stop", async () => {
    const watched = await aWatched();
    await watched.add("q");
    watched.stop.abort();
    await after(watched, record("1"));
    expect(watched.received).toEqual([]);
    rmSync(watched.directory, { recursive: true });
  });

  test("sends a message again that a stop cut off, which counts as no failure", async () => {
    const watched = await aWatched();
    const q = await watched.add("q");
    watched.receiver.send = async (_, __, stop) => {
      watched.stop.abort();
      if (stop.aborted) throw new DeliveryError("Cannot deliver to x: it was stopped");
    };
    await watched.take([record("1")]);
    const [outcome] = await watched.run();
    expect(outcome?.failure).toEqual({ reason: "Cannot deliver to x: it was stopped", retry_at: null, tried: true });
    expect(await watchStatusOf(watched.file, q)).toMatchObject({
      delivered_total: 0,
      failed_total: 0,
      pending: { attempts: { count: 0 } },
    });
  });
});
