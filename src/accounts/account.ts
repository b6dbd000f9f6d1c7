/**
 * Accounts: who may call, with which plan, and whether the subscription is active. Plans: how many requests a day and a minute each key of an
 * account has. They are data, not code (D-24).
 */
import { asc, eq, inArray } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { insertInto, orIgnore, orUpdate, query, type RowsOf, select, selectAll, selectBy, update, updateBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { accounts, keys, plans } from "../../db/schema/sqlite/state.ts";
import { didYouMean } from "../text/closest.ts";
import type { EpochMs } from "../text/instant.ts";
import { nextGeneration } from "./generations.ts";
import { readName } from "./name.ts";

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

/** The largest quota. Arithmetic on it is exact. */
export const QUOTA_MAX = 1_000_000_000;

const allPlans = query({}, () => selectAll(plans).orderBy(asc(plans.daily), asc(plans.name)));
type Plan = RowsOf<typeof allPlans>;
const planByName = selectBy(plans, "name");
const storePlan = insertInto(plans, { onConflict: orUpdate(plans.name, plans.daily, plans.per_minute) });
const touchKeysOnPlan = query({ plan: accounts.plan, generation: keys.generation }, ({ plan, generation }) =>
  update(keys)
    .set({ generation })
    .where(inArray(keys.account_id, select({ id: accounts.id }).from(accounts).where(eq(accounts.plan, plan)))),
);

/** All plans, smallest first. */
export async function listPlans(sql: StateSql): Promise<Plan[]> {
  return sql.all(allPlans);
}

/** The plan of a name, or `undefined`. */
async function findPlan(sql: StateSql, name: string): Promise<Plan | undefined> {
  return sql.get(planByName, { name });
}

type PlanChange = { name: string; daily?: number | undefined; per_minute?: number | undefined };

/** Changes a plan, or adds one. Throws if a new plan lacks a quota, or if a name or a quota is refused. */
export async function setPlan(db: StateDb, change: PlanChange): Promise<Plan> {
  const name = readName(change.name, "Cannot set plan");
  return db.transaction(async (sql) => {
    const stored = await findPlan(sql, name);
    const { daily = stored?.daily, per_minute = stored?.per_minute } = change;
    if (daily === undefined || per_minute === undefined) {
      const missing = [daily === undefined && "--daily", per_minute === undefined && "--per-minute"].filter(Boolean).join(" and ");
      const known = (await listPlans(sql)).map((plan) => plan.name);
      throw new Failure(`Cannot set plan "${name}": it is new, and needs ${missing}, too${didYouMean(name, known)}`);
    }
    const plan = { name, daily: readQuota(name, daily), per_minute: readQuota(name, per_minute) };
    await sql.run(storePlan, plan);
    await sql.run(touchKeysOnPlan, { plan: name, generation: await nextGeneration(sql, "keys") });
    return plan;
  });
}

function readQuota(name: string, quota: number): number {
  if (!Number.isInteger(quota) || quota < 1 || quota > QUOTA_MAX)
    throw new Failure(`Cannot set plan "${name}": its quotas must be integers from 1 to ${QUOTA_MAX}`);
  return quota;
}
