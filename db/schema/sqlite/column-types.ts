/** Column types that Drizzle declares otherwise. */
import { customType } from "drizzle-orm/sqlite-core";

/** bun:sqlite returns a Uint8Array. Drizzle's own `blob` declares a Buffer. */
export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "blob" });
