import { expect, test } from "bun:test";
import { countGroups } from "../../src/search/group-counts.ts";
import { MATCH, NONE, PARTIAL } from "../../src/search/masks.ts";
import { openTemporarySearchFile } from "../../src/search/search-file.ts";

test("an opportunity counts once: as a match if one of its records matches, else among those with some of the words", () => {
  const index = openTemporarySearchFile();
  const insert = index.sqlite.query(
    "insert into records (seq, id, stored_at, number, number_key, duplicate_of) values (?, ?, 0, '', '', ?)",
  );
  const add = (seq: number, of: string | null) => insert.run(seq, `record-${seq}`, of);
  add(1, null);
  for (const seq of [2, 3, 4]) add(seq, "record-1");
  add(5, null);
  const count = (...kinds: number[]) => {
    const among = (kind: number) => kinds.filter((each) => each === kind).length;
    return countGroups(index.sqlite, { kinds: Uint8Array.from([NONE, ...kinds]), matching: among(MATCH), partial: among(PARTIAL) });
  };
  expect(count(MATCH, PARTIAL, NONE, PARTIAL, PARTIAL)).toEqual({ matching: 1, partial: 1, duplicates: 2 });
  expect(count(MATCH, MATCH, NONE, NONE, MATCH)).toEqual({ matching: 2, partial: 0, duplicates: 1 });
  expect(count(NONE, PARTIAL, PARTIAL, NONE, NONE)).toEqual({ matching: 0, partial: 1, duplicates: 1 });
  index.close();
});
