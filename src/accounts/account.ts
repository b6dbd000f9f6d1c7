/** Accounts: who may call, with which plan, and whether the subscription is active. */
import { asc } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { insertInto, orIgnore, query, type RowsOf, selectAll, selectBy, updateBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { accounts, keys } from "../../db/schema/sqlite/state.ts";
import { didYouMean } from "../text/closest.ts";
import type { EpochMs } from "../text/instant.ts";
import { nextGeneration } from "./generations.ts";
import { readName } from "./name.ts";
import { findPlan, listPlans } from "./plan.ts";

export const subscriptions = ["active", "inactive"] as const;

export const DEFAULT_PLAN = "trial";

const allAccounts = query({}, () => selectAll(accounts).orderBy(asc(accounts.name)));
export type Account = RowsOf<typeof allAccounts>;
const accountByName = selectBy(accounts, "name");
const insertAccount = insertInto(accounts, { key: "id", onConflict: orIgnore });
const updateAccount = updateBy(accounts, ["plan", "subscription"], "id");
const touchKeysOfAccount = updateBy(keys, ["generation"], "account_id");

/** All accounts, by name. */
export async function listAccounts(sql: StateSql): Promise<Account[]> {
  return sql.all(allAccounts);
}

/** The account of a name, or `undefined`. */
export async function findAccount(sql: StateSql, name: string): Promise<Account | undefined> {
  return sql.get(accountByName, { name: name.trim() });
}

/** Creates an account with an active subscription. Throws if the name is refused or taken, or if there is no such plan. */
export async function createAccount(
  sql: StateSql,
  { name: wanted, plan = DEFAULT_PLAN }: { name: string; plan?: string | undefined },
  now: EpochMs,
): Promise<Account> {
  const action = `Cannot create account "${wanted}"`;
  const name = readName(wanted, action);
  await requirePlan(sql, plan, action);
  const written = await sql.run(insertAccount, { name, plan, subscription: "active", created_at: now });
  const created = await findAccount(sql, name);
  if (written === 0 || created === undefined) throw new Failure(`${action}: an account with that name exists`);
  return created;
}

type Change = { plan?: string | undefined; subscription?: string | undefined };

/** Servers apply it from the next request on. Throws if there is no such account or plan, or no such `subscription`. */
export async function setAccount(db: StateDb, name: string, change: Change): Promise<Account> {
  return db.transaction((sql) => changeAccount(sql, name, change));
}

/** `setAccount` within a transaction. */
export async function changeAccount(sql: StateSql, name: string, { plan, subscription }: Change): Promise<Account> {
  const action = `Cannot set account "${name}"`;
  const account = await findAccount(sql, name);
  if (account === undefined) {
    const names = (await listAccounts(sql)).map((each) => each.name);
    throw new Failure(`${action}: there is no such account${didYouMean(name, names)}`);
  }
  if (plan !== undefined) await requirePlan(sql, plan, action);
  if (subscription !== undefined && !subscriptions.some((known) => known === subscription))
    throw new Failure(`${action}: a subscription is ${subscriptions.join(" or ")}, not "${subscription}"`);
  const changed = { ...account, plan: plan ?? account.plan, subscription: subscription ?? account.subscription };
  await sql.run(updateAccount, changed);
  await sql.run(touchKeysOfAccount, { account_id: account.id, generation: await nextGeneration(sql, "keys") });
  return changed;
}

async function requirePlan(sql: StateSql, name: string, action: string): Promise<void> {
  if ((await findPlan(sql, name)) !== undefined) return;
  const names = (await listPlans(sql)).map((plan) => plan.name);
  throw new Failure(`${action}: there is no plan "${name}" (there are: ${names.join(", ")})`);
}
