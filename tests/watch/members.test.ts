/** What the watches of one member have to tell in one run is one mail, whatever comes between its attempts. */
import { afterAll, expect, test } from "bun:test";
import { watchMetricsText } from "../../src/monitoring/watch-metrics.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { DeliveryError } from "../../src/watch/attempts.ts";
import { addOwnWatch, follow, followedBy, LIMITS, removeWatchesOf } from "../../src/watch/member-watches.ts";
import { type RunContext, runWatches } from "../../src/watch/run.ts";
import { listWatches, pause, pauseOwned, resume, watchesOf } from "../../src/watch/watches.ts";
import { dropScratch } from "../support/imports.ts";
import { aDefinition, aWatched } from "./watched.ts";

afterAll(dropScratch);

const record = (id: string) => ({ source: { code: "OWN", opportunity_id: id }, title: `Title ${id}`, status: "open" });

type Sent = { id: string; watches: string[] };

async function aMember() {
  const watched = await aWatched();
  const sent: Sent[] = [];
  const state = { refuses: false };
  const sendToMember: RunContext["sendToMember"] = async (parts, id) => {
    sent.push({ id, watches: parts.map(({ watch }) => watch.name) });
    if (state.refuses) throw new DeliveryError("Cannot deliver to member m: it returned 451");
  };
  const add = (name: string, owner = "m") => {
    const beginning = { at: watched.clock.now, feed: null, matched: [] };
    return addOwnWatch(watched.file, owner, name, aDefinition({ title: name, receiver: { to: "member" } }), beginning);
  };
  const run = async () => {
    await catchUp(watched.db, watched.index);
    return runWatches({ ...watched.context(), sendToMember });
  };
  return { ...watched, sent, state, add, run };
}

test("all of a member is one mail, and that of another member another", async () => {
  const { add, run, take, sent } = await aMember();
  for (const [name, owner] of [
    ["a", "m"],
    ["b", "m"],
    ["c", "n"],
  ] as const)
    await add(name, owner);
  await take([record("1")]);
  const outcomes = await run();
  expect(sent.map(({ watches }) => watches).sort()).toEqual([["a", "b"], ["c"]]);
  expect(outcomes.map(({ watch, messages }) => [watch, messages])).toEqual([
    ["a", 1],
    ["b", 1],
    ["c", 1],
  ]);
  await run();
  expect(sent).toHaveLength(2);
});

test("a mail that failed comes again with the same id and parts, and what is new since is another one", async () => {
  const { add, run, take, sent, state, clock } = await aMember();
  for (const name of ["a", "b"]) await add(name);
  await take([record("1")]);
  state.refuses = true;
  await run();
  await add("late");
  state.refuses = false;
  clock.now += 86_400_000;
  await run();
  const [first, ...others] = sent;
  expect(others).toContainEqual({ id: first?.id ?? "", watches: ["a", "b"] });
  expect(others.filter(({ id }) => id !== first?.id)).toEqual([{ id: expect.any(String), watches: ["late"] }]);
});

test("a part that was paused meanwhile comes later, with an id that no mail had", async () => {
  const { add, run, take, sent, state, clock, file } = await aMember();
  for (const name of ["a", "b"]) await add(name);
  await take([record("1")]);
  state.refuses = true;
  await run();
  state.refuses = false;
  clock.now += 86_400_000;
  const [, b] = await listWatches(file);
  if (b === undefined) throw new Error("there is no second watch");
  await pause(file, b, "you paused it");
  await run();
  await resume(file, b);
  await run();
  expect(sent.map(({ watches }) => watches)).toEqual([["a", "b"], ["a"], ["b"]]);
  expect(sent[1]?.id).toBe(sent[0]?.id ?? "");
  expect(sent[2]?.id).not.toBe(sent[0]?.id ?? "");
});

test("limits hold, following begins and ends with its watch, and an end leaves the watches of others", async () => {
  const { add, file } = await aMember();
  for (let n = 0; n < LIMITS.watches; n++) expect(await add(`w${n}`)).toBeUndefined();
  expect(await add("more")).toContain("which is the most");
  const beginning = { name: "f", at: 0, feed: null };
  for (let n = 0; n < LIMITS.followed; n++) expect(await follow(file, "m", `id-${n}`, true, beginning)).toBeUndefined();
  expect(await follow(file, "m", "id-more", true, beginning)).toContain("which is the most");
  expect(await followedBy(file, "m")).toHaveLength(LIMITS.followed);
  for (let n = 0; n < LIMITS.followed; n++) await follow(file, "m", `id-${n}`, false, beginning);
  expect((await watchesOf(file, "m")).some(({ name }) => name === "f")).toBe(false);
  await add("other", "n");
  expect(await removeWatchesOf(file, ["m"])).toBe(LIMITS.watches);
  expect((await listWatches(file)).map(({ name }) => name)).toEqual(["other"]);
  expect(await pauseOwned(file, "a backup was restored")).toBe(1);
  expect(await pauseOwned(file, "again")).toBe(0);
});

test("the metrics of the watches of members are one series", async () => {
  const { add, file, clock } = await aMember();
  await add("secret-name");
  await add("other-name", "n");
  const text = await watchMetricsText(file, clock.now);
  expect(text).toContain('fundfeed_watch_behind_seconds{watch="(members)"}');
  expect(text).not.toMatch(/secret-name|other-name/);
});
