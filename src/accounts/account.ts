/** Accounts: who may call, on which plan, and whether their subscription is active. */
import { asc, eq } from "drizzle-orm";
import type { StateDb } from "../../db/open.ts";
import * as schema from "../../db/state.ts";
import { didYouMean } from "../closest.ts";
import { readName } from "./name.ts";
import { findPlan, listPlans } from "./plan.ts";

export const subscriptions = ["active", "inactive"] as const;

/** The plan of an account for which none is named. */
export const FIRST_PLAN = "trial";

export type Account = { id: number; name: string; plan: string; subscription: string; created_at: number };

/** All accounts, by name. */
export async function listAccounts({ drizzle }: StateDb): Promise<Account[]> {
  return drizzle.select().from(schema.accounts).orderBy(asc(schema.accounts.name));
}

export async function findAccount({ drizzle }: StateDb, name: string): Promise<Account | undefined> {
  const [account] = await drizzle.select().from(schema.accounts).where(eq(schema.accounts.name, name.trim()));
  return account;
}

/** A new account with an active subscription. */
export async function createAccount(db: StateDb, account: { name: string; plan?: string }, now: number): Promise<Account> {
  const action = `Cannot create account "${account.name}"`;
  const name = readName(account.name, action);
  const plan = account.plan ?? FIRST_PLAN;
  await requirePlan(db, plan, action);
  const [created] = await db.drizzle
    .insert(schema.accounts)
    .values({ name, plan, subscription: "active", created_at: now })
    .onConflictDoNothing()
    .returning();
  if (created === undefined) throw new Error(`${action}: there is one of that name`);
  return created;
}

/** Changes an account's plan, subscription or both; a running server goes by it from the next request on. */
export async function setAccount(db: StateDb, name: string, change: { plan?: string; subscription?: string }): Promise<Account> {
  const action = `Cannot set account "${name}"`;
  const account = await findAccount(db, name);
  if (account === undefined) {
    const names = (await listAccounts(db)).map((each) => each.name);
    throw new Error(`${action}: there is no such account${didYouMean(name, names)}`);
  }
  if (change.plan !== undefined) await requirePlan(db, change.plan, action);
  if (change.subscription !== undefined && !subscriptions.some((known) => known === change.subscription)) {
    throw new Error(`${action}: a subscription is ${subscriptions.join(" or ")}, not "${change.subscription}"`);
  }
  const changed = { ...account, ...change };
  await db.drizzle
    .update(schema.accounts)
    .set({ plan: changed.plan, subscription: changed.subscription })
    .where(eq(schema.accounts.id, account.id));
  return changed;
}

async function requirePlan(db: StateDb, name: string, action: string): Promise<void> {
  if ((await findPlan(db, name)) !== undefined) return;
  const names = (await listPlans(db)).map((plan) => plan.name);
  throw new Error(`${action}: there is no plan "${name}" (there are: ${names.join(", ")})`);
}
