/** Which opportunities name another one as their canonical record or their parent. */
import type { SearchFile } from "./search-file.ts";

/** At most so many are listed. */
const LIMIT = 20;

/** The ids of the opportunities whose `canonical_id` or `parent_id` is this id. */
export function listNaming({ sqlite }: SearchFile, relationship: "canonical_id" | "parent_id", id: string): string[] {
  const rows = sqlite
    .query<{ id: string }, [string]>(`select id from records where ${relationship} = ? order by id limit ${LIMIT}`)
    .all(id);
  return rows.map((row) => row.id);
}
