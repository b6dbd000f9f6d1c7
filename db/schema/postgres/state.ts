/** The tables of `../sqlite/state.ts` in a PostgreSQL schema of their own. */
import { pgSchema } from "drizzle-orm/pg-core";
import * as sqlite from "../sqlite/state.ts";
import { tablesIn } from "./tables.ts";

export const schema = pgSchema("fundfeed_state");
const table = tablesIn(schema);

export const plans = table(sqlite.plans);
export const accounts = table(sqlite.accounts, { numbered: "id" });
export const keys = table(sqlite.keys);
export const use = table(sqlite.use);
export const generations = table(sqlite.generations);
export const allowed = table(sqlite.allowed);
export const secrets = table(sqlite.secrets);
