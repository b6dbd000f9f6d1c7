/** All pages of a list. */
import { ResponseError } from "./errors.ts";

/** What says where a list continues. */
type Page = { data: readonly unknown[]; meta: { has_more: boolean; next_cursor: string | null } };

/**
 * Yields the pages of a list, beginning with that of `start`, or with the first one. `list` gets the cursor of each page:
 *
 *     for await (const page of pages((cursor) => client.listOpportunities({ status: ["open"], cursor })))
 *
 * Throws what `list` throws, and a ResponseError if the server does not say where the list continues.
 */
export async function* pages<P extends Page>(list: (cursor?: string) => Promise<P>, start?: string): AsyncGenerator<P, void, void> {
  for (let cursor = start; ; ) {
    const page = await list(cursor);
    const { has_more, next_cursor } = page.meta;
    if (has_more && typeof next_cursor !== "string") throw new ResponseError("the response does not say where the list continues", false);
    if (has_more && (next_cursor === cursor || page.data.length === 0)) throw new ResponseError("the pages do not advance", false);
    yield page;
    if (!has_more) return;
    cursor = next_cursor as string;
  }
}
