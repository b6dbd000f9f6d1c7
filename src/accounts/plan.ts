/** Plans are data (D-24): how many requests a day and a minute their accounts' keys have. */
import { asc, eq, inArray } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { insertInto, orUpdate, query, select, selectAll, selectBy, update } from "../../db/query.ts";
import { accounts, keys, plans } from "../../db/state.ts";
import { readName } from "./name.ts";
import { nextRevision } from "./revisions.ts";

export type Plan = { name: string; daily: number; per_minute: number };

/** Enough for any caller, and far from where arithmetic would round. */
export const QUOTA_MAX = 1_000_000_000;

const allPlans = query({}, () => selectAll(plans).orderBy(asc(plans.daily), asc(plans.name)));
const planByName = selectBy(plans, "name");
const storePlan = insertInto(plans, { onConflict: orUpdate(plans.name, plans.daily, plans.per_minute) });
const touchKeysOnPlan = query({ plan: accounts.plan, revision: keys.revision }, ({ plan, revision }) =>
  update(keys)
    .set({ revision })
    .where(inArray(keys.account_id, select({ id: accounts.id }).from(accounts).where(eq(accounts.plan, plan)))),
);

/** All plans, the smallest first. */
export async function listPlans(sql: StateSql): Promise<Plan[]> {
  return sql.all(allPlans);
}

export async function findPlan(sql: StateSql, name: string): Promise<Plan | undefined> {
  return sql.get(planByName, { name });
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
    await sql.run(storePlan, plan);
    await sql.run(touchKeysOnPlan, { plan: plan.name, revision: await nextRevision(sql, "keys") });
  });
  return plan;
}
