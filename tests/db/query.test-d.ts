/** What the compiler refuses of a statement. `tsc` checks this file: an error that is expected and missing is an error itself. */
import { eq } from "drizzle-orm";
import type { CatalogSql, StateSql } from "../../db/engine.ts";
import { insertInto, listOf, orIgnore, pick, query, select, selectBy, update } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import { keys, plans } from "../../db/schema/sqlite/state.ts";

declare const catalog: CatalogSql;
declare const state: StateSql;

const byKey = query(pick(opportunities, "source", "lineage"), ({ source }) =>
  select(pick(opportunities, "seq", "turns_at"))
    .from(opportunities)
    .where(eq(opportunities.source, source)),
);
const bySeqs = query({ seqs: listOf(opportunities.seq) }, () => select({ id: opportunities.id }).from(opportunities));
const insertPlan = insertInto(plans, { onConflict: orIgnore });
const relabel = query(pick(keys, "id", "label"), ({ id, label }) => update(keys).set({ label }).where(eq(keys.id, id)));

export async function refused(): Promise<void> {
  // @ts-expect-error A column that the table does not have.
  pick(opportunities, "seq", "sequence");
  // @ts-expect-error A column that the table does not have, after `opportunities.` too.
  select({ id: opportunities.identifier });
  // @ts-expect-error A parameter is missing.
  await catalog.get(byKey, { source: "A" });
  // @ts-expect-error All parameters are missing.
  await catalog.get(byKey);
  // @ts-expect-error A parameter of another type.
  await catalog.get(byKey, { source: 1, lineage: "L" });
  // @ts-expect-error A parameter that there is not.
  await catalog.get(byKey, { source: "A", lineage: "L", id: "x" });
  // @ts-expect-error One value where a list is wanted.
  await catalog.all(bySeqs, { seqs: 1 });
  // @ts-expect-error A column that was not selected.
  (await catalog.get(byKey, { source: "A", lineage: "L" }))?.id;
  // @ts-expect-error A column that may be null.
  ((await catalog.all(byKey, { source: "A", lineage: "L" }))[0] as { turns_at: number; seq: number }).turns_at satisfies string;
  // @ts-expect-error A column of the row is missing.
  await state.run(insertPlan, { name: "big", daily: 1 });
  // @ts-expect-error A column of the row has another type.
  await state.run(insertPlan, { name: "big", daily: "1", per_minute: 1 });
  // @ts-expect-error A null in a column that must not be null.
  await state.run(relabel, { id: null, label: null });
  // @ts-expect-error A row of a statement that returns none.
  (await state.get(relabel, { id: "k", label: null }))?.label;
  // @ts-expect-error Text instead of a statement.
  await state.all("select * from plans");
  const plan = await state.get(selectBy(plans, "name"), { name: "trial" });
  plan satisfies { name: string; daily: number; per_minute: number } | undefined;
}
