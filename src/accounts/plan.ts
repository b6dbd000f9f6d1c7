/** Plans are data (D-24): how many requests a day and a minute their accounts' keys have. */
import { asc, eq } from "drizzle-orm";
import type { StateDb } from "../../db/open.ts";
import * as schema from "../../db/state.ts";
import { readName } from "./name.ts";

export type Plan = { name: string; daily: number; per_minute: number };

/** Enough for any caller, and far from where arithmetic would round. */
export const QUOTA_MAX = 1_000_000_000;

/** All plans, the smallest first. */
export async function listPlans({ drizzle }: StateDb): Promise<Plan[]> {
  return drizzle.select().from(schema.plans).orderBy(asc(schema.plans.daily), asc(schema.plans.name));
}

export async function findPlan({ drizzle }: StateDb, name: string): Promise<Plan | undefined> {
  const [plan] = await drizzle.select().from(schema.plans).where(eq(schema.plans.name, name));
  return plan;
}

/** Changes a plan, or adds it under a new name. */
export async function setPlan({ drizzle }: StateDb, { name, daily, per_minute }: Plan): Promise<Plan> {
  const plan = { name: readName(name, "Cannot set plan"), daily, per_minute };
  for (const quota of [daily, per_minute]) {
    if (!Number.isInteger(quota) || quota < 1 || quota > QUOTA_MAX) {
      throw new Error(`Cannot set plan "${name}": its quotas must be integers from 1 to ${QUOTA_MAX}`);
    }
  }
  await drizzle.insert(schema.plans).values(plan).onConflictDoUpdate({ target: schema.plans.name, set: { daily, per_minute } });
  return plan;
}
