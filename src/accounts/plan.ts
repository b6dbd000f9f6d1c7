/** Plans: how many requests a day and a minute each key of an account has. They are data, not code (D-24). */
import { asc, eq, inArray } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { insertInto, orUpdate, query, type RowsOf, select, selectAll, selectBy, update } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { accounts, keys, plans } from "../../db/schema/sqlite/state.ts";
import { didYouMean } from "../text/closest.ts";
import { nextGeneration } from "./generations.ts";
import { readName } from "./name.ts";

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
export async function findPlan(sql: StateSql, name: string): Promise<Plan | undefined> {
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
