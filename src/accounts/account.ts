/** Accounts: who may call, on which plan, and whether their subscription is active. */
import { asc, eq } from "drizzle-orm";
import type { Sql, StateDb, StateTables } from "../../db/engine.ts";
import { didYouMean } from "../closest.ts";
import { readName } from "./name.ts";
import { findPlan, listPlans } from "./plan.ts";
import { nextRevision } from "./revisions.ts";

export const subscriptions = ["active", "inactive"] as const;

/** The plan of an account for which none is named. */
export const FIRST_PLAN = "trial";

export type Account = { id: number; name: string; plan: string; subscription: string; created_at: number };

/** All accounts, by name. */
export async function listAccounts({ drizzle, tables: { accounts } }: Sql<StateTables>): Promise<Account[]> {
  return drizzle.select().from(accounts).orderBy(asc(accounts.name));
}

export async function findAccount({ drizzle, tables: { accounts } }: Sql<StateTables>, name: string): Promise<Account | undefined> {
  const [account] = await drizzle.select().from(accounts).where(eq(accounts.name, name.trim()));
  return account;
}

/** A new account with an active subscription. */
export async function createAccount(sql: Sql<StateTables>, account: { name: string; plan?: string }, now: number): Promise<Account> {
  const action = `Cannot create account "${account.name}"`;
  const name = readName(account.name, action);
  const plan = account.plan ?? FIRST_PLAN;
  await requirePlan(sql, plan, action);
  const [created] = await sql.drizzle
    .insert(sql.tables.accounts)
    .values({ name, plan, subscription: "active", created_at: now })
    .onConflictDoNothing()
    .returning();
  if (created === undefined) throw new Error(`${action}: there is one of that name`);
  return created;
}

type Change = { plan?: string; subscription?: string };

/** Changes an account's plan, subscription or both; a running server goes by it from the next request on. */
export async function setAccount(db: StateDb, name: string, change: Change): Promise<Account> {
  return db.transaction((sql) => changeAccount(sql, name, change));
}

/** `setAccount` within a transaction. */
export async function changeAccount(sql: Sql<StateTables>, name: string, change: Change): Promise<Account> {
  const action = `Cannot set account "${name}"`;
  const account = await findAccount(sql, name);
  if (account === undefined) {
    const names = (await listAccounts(sql)).map((each) => each.name);
    throw new Error(`${action}: there is no such account${didYouMean(name, names)}`);
  }
  if (change.plan !== undefined) await requirePlan(sql, change.plan, action);
  if (change.subscription !== undefined && !subscriptions.some((known) => known === change.subscription)) {
    throw new Error(`${action}: a subscription is ${subscriptions.join(" or ")}, not "${change.subscription}"`);
  }
  const changed = { ...account, ...change };
  await sql.run("update accounts set plan = ?, subscription = ? where id = ?", changed.plan, changed.subscription, account.id);
  await sql.run("update keys set revision = ? where account_id = ?", await nextRevision(sql, "keys"), account.id);
  return changed;
}

async function requirePlan(sql: Sql<StateTables>, name: string, action: string): Promise<void> {
  if ((await findPlan(sql, name)) !== undefined) return;
  const names = (await listPlans(sql)).map((plan) => plan.name);
  throw new Error(`${action}: there is no plan "${name}" (there are: ${names.join(", ")})`);
}
