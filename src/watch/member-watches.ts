/** What a member can do to her watches, each in one transaction: a changed definition gets another key, for a concurrent run. (E-51, E-186) */
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { IDS_MAX } from "../filter/kinds.ts";
import type { Watch, WatchDefinition } from "./watch.ts";
import {
  addRow,
  type Beginning,
  changeRow,
  countMembersWatches,
  type MatchDifference,
  removeOwned,
  removeWatch,
  watchesOf,
} from "./watches.ts";

/** Watches of a member and of all members, what one may follow, and what a saved watch may match: storing it makes all requests wait. */
export const LIMITS = { watches: 20, watchesOfAll: 2000, followed: IDS_MAX, matching: 10_000 };

const FOLLOWED: Omit<WatchDefinition, "filter"> = {
  at_least: "material",
  remind: [14, 3],
  title: "Following",
  follows: true,
  receiver: { to: "member" },
  zone: "America/New_York",
};

/** Adds a watch of a member. Returns the reason if nothing was stored. */
export async function addOwnWatch(db: WatchDb, owner: string, name: string, definition: WatchDefinition, beginning: Beginning) {
  return db.transaction(async (sql) => {
    const own = (await watchesOf(sql, owner)).filter(({ definition }) => !definition.follows).length;
    if (own >= LIMITS.watches) return `You have ${LIMITS.watches} watches, which is the most. Remove one first.`;
    return addUnlessFull(sql, owner, name, definition, beginning);
  });
}

async function addUnlessFull(sql: WatchSql, owner: string, name: string, definition: WatchDefinition, beginning: Beginning) {
  if ((await countMembersWatches(sql)) >= LIMITS.watchesOfAll) return "This server has as many watches as it takes. Ask its operator.";
  await addRow(sql, name, definition, beginning, owner);
  return undefined;
}

/** The watch of a member with this name; undefined if there is none, or if it belongs to somebody else. */
export async function ownWatch(db: WatchSql, owner: string, name: string): Promise<Watch | undefined> {
  return (await watchesOf(db, owner)).find((watch) => watch.name === name);
}

/** The watch with the opportunities that a member follows. */
export async function followingOf(db: WatchSql, owner: string): Promise<Watch | undefined> {
  return (await watchesOf(db, owner)).find(({ definition }) => definition.follows);
}

/** The ids that a member follows. */
export async function followedBy(db: WatchSql, owner: string): Promise<readonly string[]> {
  return (await followingOf(db, owner))?.definition.filter.id ?? [];
}

/**
 * Follows or unfollows an opportunity. Following the first one creates the member's watch of followed opportunities; unfollowing the last one
 * removes it. Returns the reason if nothing was stored.
 */
export async function follow(
  db: WatchDb,
  owner: string,
  id: string,
  isFollowed: boolean,
  { name, ...beginning }: Omit<Beginning, "matched"> & { name: string },
): Promise<string | undefined> {
  return db.transaction(async (sql) => {
    const watch = await followingOf(sql, owner);
    const before = watch?.definition.filter.id ?? [];
    if (before.includes(id) === isFollowed) return undefined;
    const after = isFollowed ? [...before, id] : before.filter((each) => each !== id);
    if (after.length > LIMITS.followed) return `You follow ${LIMITS.followed} opportunities, which is the most.`;
    const filter = { id: after };
    if (watch === undefined) return addUnlessFull(sql, owner, name, { ...FOLLOWED, filter }, { ...beginning, matched: after });
    const [joining, leaving] = isFollowed ? [[id], []] : [[], [id]];
    if (after.length === 0) await removeWatch(sql, watch);
    else await changeRow(sql, { ...watch, definition: { ...watch.definition, filter } }, { joining, leaving });
    return undefined;
  });
}

/** Changes a watch of a member. It keeps its position and its pending message. Returns false if the watch was removed. */
export async function changeOwn(
  db: WatchDb,
  owner: string,
  name: string,
  changes: Partial<WatchDefinition>,
  difference: Exclude<MatchDifference, "all"> = { joining: [], leaving: [] },
): Promise<boolean> {
  return db.transaction(async (sql) => {
    const watch = await ownWatch(sql, owner, name);
    if (watch !== undefined) await changeRow(sql, { ...watch, definition: { ...watch.definition, ...changes } }, difference);
    return watch !== undefined;
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
