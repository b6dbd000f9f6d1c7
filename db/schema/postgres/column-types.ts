/** Text, 64-bit integers and bytes: all that both engines keep alike. */
import { bigint, customType } from "drizzle-orm/pg-core";

/** Ordered and compared by its UTF-8 bytes, as SQLite does: with a language's order, pages of a list would differ between the engines. */
export const text = customType<{ data: string }>({ dataType: () => `text collate "C"` });

/** 64 bits; what JavaScript sees of it stays below 2^53. */
export const integer = (name: string) => bigint(name, { mode: "number" });

/** Counts up by itself, unless a row brings its own number, as a copy does. */
export const rowNumber = (name: string) => integer(name).primaryKey().generatedByDefaultAsIdentity();

export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
