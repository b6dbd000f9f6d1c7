/** Where a copy is kept, and how far it is. */

/** What is copied. A mark says something for one scope only, so a copy keeps to the scope that it was begun with. */
export type Scope = { baseUrl: string; source: readonly string[]; events: boolean };

/** A document as it was served. `at` is its `updated_at` or `detected_at`. */
export type Document = { id: string; at: string; text: string };

/** An opportunity, and its events where they are copied too. */
export type Entry = Document & { history: readonly Document[] };

/**
 * A walk over all that changed after the mark `since` (`null`: over everything), as it stands after a page: the newest instant that it has met,
 * and the cursor of the page to come. Between two walks both are null.
 */
export type Walk = { since: string | null; newest: string | null; cursor: string | null };

export type Store = {
  /** The walk to go on with. `afresh` forgets how far it got, but not its mark. */
  begin: (afresh: boolean) => Promise<Walk>;
  /** Keeps a page and the walk as it stands after it: both, or neither. Pages may come again. */
  keep: (entries: readonly Entry[], walk: Walk) => Promise<void>;
  close: () => Promise<void>;
};

/** One document a line: each opportunity, and after it its events. A later line replaces an earlier one with the same `id`. */
export function* linesOf(entries: readonly Entry[]): Iterable<string> {
  for (const { text, history } of entries) {
    yield text;
    for (const event of history) yield event.text;
  }
}

/** A copy that is printed and remembers nothing but its mark. */
export function openPrintingStore(print: (line: string) => void): Store {
  let since: string | null = null;
  return {
    begin: async () => ({ since, newest: null, cursor: null }),
    keep: async (entries, walk) => {
      for (const line of linesOf(entries)) print(line);
      if (walk.cursor === null) since = walk.since;
    },
    close: async () => undefined,
  };
}

/** How a copy remembers its scope. */
export function scopeText({ baseUrl, source, events }: Scope): string {
  return JSON.stringify({ base_url: baseUrl, source, events });
}

export function requireScope(found: string, scope: Scope): void {
  if (found !== scopeText(scope))
    throw new Error(`it is a copy of ${found}, and this would be one of ${scopeText(scope)}: use another file`);
}
