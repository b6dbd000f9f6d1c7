/** Two numbers by which a server finds what others changed: of keys, accounts and plans, and of stored use. (E-29) */
import { sql as fragment } from "drizzle-orm";
import type { StateSql } from "../../db/engine.ts";
import { query, selectAll } from "../../db/query.ts";
import { generations } from "../../db/schema/sqlite/state.ts";

export type Generations = { keys: number; use: number };

const allGenerations = query({}, () => selectAll(generations));
const incrementGeneration = query(
  { name: generations.name },
  ({ name }) => fragment<{ number: number }>`
    insert into ${generations} (name, number) values (${name}, 1)
    on conflict (name) do update set number = ${generations.number} + 1 returning number`,
);

/** The newest committed generations; 0 before the first change. */
export async function findGenerations(sql: StateSql): Promise<Generations> {
  const rows = await sql.all(allGenerations);
  const numberOf = (name: keyof Generations) => rows.find((row) => row.name === name)?.number ?? 0;
  return { keys: numberOf("keys"), use: numberOf("use") };
}

/** Increments a generation and returns it. Call it in the transaction of the change, so that both are committed together. */
export async function nextGeneration(sql: StateSql, name: keyof Generations): Promise<number> {
  const [next] = await sql.all(incrementGeneration, { name });
  return next?.number ?? 0;
}
