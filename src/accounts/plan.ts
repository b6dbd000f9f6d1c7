/** Plans are data (D-24): how many requests a day and a minute their accounts' keys have. */
import { asc, eq } from "drizzle-orm";
import type { Sql, StateDb, StateTables } from "../../db/engine.ts";
import { readName } from "./name.ts";
import { nextRevision } from "./revisions.ts";

export type Plan = { name: string; daily: number; per_minute: number };

/** Enough for any caller, and far from where arithmetic would round. */
export const QUOTA_MAX = 1_000_000_000;

/** All plans, the smallest first. */
export async function listPlans({ drizzle, tables: { plans } }: Sql<StateTables>): Promise<Plan[]> {
  return drizzle.select().from(plans).orderBy(asc(plans.daily), asc(plans.name));
}

export async function findPlan({ drizzle, tables: { plans } }: Sql<StateTables>, name: string): Promise<Plan | undefined> {
  const [plan] = await drizzle.select().from(plans).where(eq(plans.name, name));
  return plan;
}

/** Changes a plan, or adds it under a new name. */
export async function setPlan(db: StateDb, { name, daily, per_minute }: Plan): Promise<Plan> {
  const plan = { name: readName(name, "Cannot set plan"), daily, per_minute };
  for (const quota of [daily, per_minute]) {
    if (!Number.isInteger(quota) || quota < 1 || quota > QUOTA_MAX) {
      throw new Error(`Cannot set plan "${name}": its quotas must be integers from 1 to ${QUOTA_MAX}`);
    }
  }
  await db.transaction(async (sql) => {
    const { plans } = sql.tables;
    await sql.drizzle.insert(plans).values(plan).onConflictDoUpdate({ target: plans.name, set: { daily, per_minute } });
    const keysOnIt = "account_id in (select id from accounts where plan = ?)";
    await sql.run(`update keys set revision = ? where ${keysOnIt}`, await nextRevision(sql, "keys"), plan.name);
  });
  return plan;
}
