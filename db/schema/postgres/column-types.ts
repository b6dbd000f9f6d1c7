/** Text, 64-bit integers and bytes: the types that both engines store alike. */
import { bigint, customType } from "drizzle-orm/pg-core";

/** Compared by its UTF-8 bytes, as in SQLite. With a language's collation, lists would differ between the engines. */
export const text = customType<{ data: string }>({ dataType: () => `text collate "C"` });

/** 64 bits. Values stay below 2^53, JavaScript's limit. */
export const integer = (name: string) => bigint(name, { mode: "number" });

/** Numbered by PostgreSQL, unless an insert gives a number, as a copy does. */
export const rowNumber = (name: string) => integer(name).primaryKey().generatedByDefaultAsIdentity();

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
