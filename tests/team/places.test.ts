/** Places and turns: whoever asks for much waits behind himself. */
import { expect, test } from "bun:test";
import { createPlaces, KEYLESS } from "../../src/team/places.ts";

const never = new AbortController().signal;
const turnOver = () => new Promise((resolve) => setImmediate(resolve));

/** Takes places, begins their turns, and tells in which order they began. */
function aServer(limits: Parameters<typeof createPlaces>[0] = {}) {
  const placeIn = createPlaces(limits);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (line: string, name: string, signal: AbortSignal = never) => {
    const place = placeIn(line);
    if (place === undefined) return undefined;
    const work = async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    };
    return place.run(signal, work).finally(place.leave);
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await turnOver();
  };
  return { ask, begun, end };
}

test("lines take turns, whatever the length of each", async () => {
  const { ask, begun, end } = aServer({ runningEach: 1, runningAll: 1 });
  for (const name of ["a1", "a2", "a3", "b1", "c1", "c2"]) void ask(name.charAt(0), name);
  for (const name of ["a1", "b1", "c1", "a2", "c2", "a3"]) {
    await turnOver();
    expect(begun.at(-1)).toBe(name);
    await end(name);
  }
});

test("one line never has all turns", async () => {
  const { ask, begun } = aServer({ runningEach: 1, runningAll: 3 });
  for (const name of ["a1", "a2", "a3", "b1"]) void ask(name.charAt(0), name);
  await turnOver();
  expect(begun).toEqual(["a1", "b1"]);
});

test("what a client that has left asked for is not begun, and its place is free", async () => {
  const { ask, begun, end } = aServer({ each: 2, runningEach: 1 });
  const client = new AbortController();
  void ask("a", "first");
  const left = ask("a", "left", client.signal);
  expect(ask("a", "refused")).toBeUndefined();
  client.abort();
  expect(await left).toBeUndefined();
  const next = ask("a", "next");
  await end("first");
  await turnOver();
  await end("next");
  expect([await next, begun]).toEqual(["next", ["first", "next"]]);
  expect(await ask("a", "gone before", client.signal)).toBeUndefined();
});

test("a key has few places, those without a key more, and all together have a limit", async () => {
  const { ask } = aServer({ each: 1, keyless: 2, all: 3 });
  const isRefused = (line: string) => ask(line, line) === undefined;
  expect([isRefused("a"), isRefused("a")]).toEqual([false, true]);
  expect([isRefused(KEYLESS), isRefused(KEYLESS), isRefused(KEYLESS)]).toEqual([false, false, true]);
  expect(isRefused("b")).toBe(true);
});
