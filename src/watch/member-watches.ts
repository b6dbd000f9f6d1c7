/**
 * Watches of members: limits, and what a member can do to them. Each is one transaction on `watch.db`, as the commands of the operator are,
 * so a run under way does not matter: whatever changes the definition gives the watch another key. (E-51, E-186)
 */
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { IDS_MAX } from "../filter/kinds.ts";
import type { Watch, WatchDefinition } from "./watch.ts";
import { addRow, type Beginning, changeRow, countMembersWatches, removeKey, removeOwned, watchesOf } from "./watches.ts";

export const LIMITS = {
  /** Of one member, and of all of them. */
  watches: 20,
  watchesOfAll: 2000,
  followed: IDS_MAX,
  /** What a watch matches when it is saved. */
  matching: 10_000,
};

const FULL = "This server has as many watches as it takes. Ask its operator.";

/** What a member follows by default: changes that matter, and two reminders. */
const FOLLOWED: Omit<WatchDefinition, "filter"> = {
  at_least: "material",
  remind: [14, 3],
  title: "Following",
  follows: true,
  receiver: { to: "member" },
  zone: "America/New_York",
};

/** Adds a watch of a member. Returns why nothing was stored, if so. */
export async function addOwnWatch(
  db: WatchDb,
  owner: string,
  name: string,
  definition: WatchDefinition,
  beginning: Beginning,
): Promise<string | undefined> {
  return db.transaction(async (sql) => {
    const own = (await watchesOf(sql, owner)).filter(({ definition }) => !definition.follows).length;
    if (own >= LIMITS.watches) return `You have ${LIMITS.watches} watches, which is the most. Remove one first.`;
    if ((await countMembersWatches(sql)) >= LIMITS.watchesOfAll) return FULL;
    await addRow(sql, name, definition, beginning, owner);
    return undefined;
  });
}

/** The watch of a member with this name; undefined if there is none, or if it belongs to somebody else. */
export async function ownWatch(db: WatchSql, owner: string, name: string): Promise<Watch | undefined> {
  return (await watchesOf(db, owner)).find((watch) => watch.name === name);
}

/** The watch of what a member follows. */
async function followingOf(db: WatchSql, owner: string): Promise<Watch | undefined> {
  return (await watchesOf(db, owner)).find(({ definition }) => definition.follows);
}

/** The ids that a member follows. */
export async function followedBy(db: WatchSql, owner: string): Promise<readonly string[]> {
  return (await followingOf(db, owner))?.definition.filter.id ?? [];
}

/**
 * Follows an opportunity, or ends that. The first one makes the watch of what a member follows, and the last one removes it. Returns why
 * nothing was stored, if so.
 */
export async function follow(
  db: WatchDb,
  owner: string,
  id: string,
  isFollowed: boolean,
  { name, ...beginning }: Omit<Beginning, "members"> & { name: string },
): Promise<string | undefined> {
  return db.transaction(async (sql) => {
    const watch = await followingOf(sql, owner);
    const before = watch?.definition.filter.id ?? [];
    const others = before.filter((each) => each !== id);
    const after = isFollowed ? [...others, id] : others;
    if (after.length > LIMITS.followed) return `You follow ${LIMITS.followed} opportunities, which is the most.`;
    if (after.length === before.length) return undefined; // It was so already.
    if (watch === undefined) {
      if ((await countMembersWatches(sql)) >= LIMITS.watchesOfAll) return FULL;
      await addRow(sql, name, { ...FOLLOWED, filter: { id: after } }, { ...beginning, members: after }, owner);
    } else if (after.length === 0) await removeKey(sql, watch);
    else {
      const difference = isFollowed ? { joining: [id], leaving: [] } : { joining: [], leaving: [id] };
      await changeRow(sql, { ...watch, definition: { ...watch.definition, filter: { id: after } } }, difference);
    }
    return undefined;
  });
}

/** Changes a watch of a member: it goes on where it was, and a message on its way stays. Returns false if it is gone. */
export async function changeOwn(
  db: WatchDb,
  owner: string,
  name: string,
  change: (definition: WatchDefinition) => { definition: WatchDefinition; difference?: { joining: string[]; leaving: string[] } },
): Promise<boolean> {
  return db.transaction(async (sql) => {
    const watch = await ownWatch(sql, owner, name);
    if (watch === undefined) return false;
    const { definition, difference = { joining: [], leaving: [] } } = change(watch.definition);
    await changeRow(sql, { ...watch, definition }, difference);
    return true;
  });
}

/** Removes all watches of members. Returns how many. */
export async function removeWatchesOf(db: WatchDb, owners: readonly string[]): Promise<number> {
  return db.transaction(async (sql) => {
    let removed = 0;
    for (const owner of owners) removed += await removeOwned(sql, owner);
    return removed;
  });
}
