/** Links between records of the same opportunity in two sources, on each engine. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { countLinks, findLink, listUnlinked } from "../../src/changes/link.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { aContent } from "../support/contents.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, dropScratch } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000); // A PostgreSQL that starts on a busy machine takes its time.

afterAll(dropScratch);

const topic = (code: string, id: string) => ({
  source: { code, opportunity_id: id },
  title: "Topic",
  organization: { agency: "Department of Defense" },
});

describe.each(engines)("links on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("are found by the key that both records have in common, in any order of arrival", async () => {
    const { db: filled, take } = await aCatalog();
    await take([topic("SBIR_GOV", "T2"), topic("SBIR_GOV", "T1"), topic("SBIR_GOV", "T3"), topic("DSIP", "T9")]);
    const db = await emptyCatalog();
    await copyCatalog(filled, db);
    const all = new Set(["DSIP", "GRANTS_GOV", "OWN"]);
    expect(await listUnlinked(db, all)).toEqual([]);
    const links = (...arriving: ReturnType<typeof topic>[]) =>
      countLinks(db, all, {
        records: new Map(arriving.map((each) => [opportunityId(each.source.code, each.source.opportunity_id), aContent(each)])),
        ids: new Map(),
        links: [],
      });
    expect(await links(topic("DSIP", "t 1"))).toBe(1);
    expect(await links(topic("DSIP", "t 1"), topic("DSIP", "T1"), topic("SBIR_GOV", "T1"))).toBe(0);
    expect(await links(topic("DSIP", "T8"), topic("SBIR_GOV", "T8"), topic("SBIR_GOV", "T9"))).toBe(2);
    expect(await links(topic("SBIR_GOV", "T1"))).toBe(0);

    await db.run(rawSql("update opportunities set link_key = 'T1' where link_key in ('T2', 'T9')")); // As if the topic had come after two records that would name it.
    const topicId = opportunityId("DSIP", "T9");
    expect(await listUnlinked(db, all)).toEqual([
      { seq: 1, canonical_id: topicId },
      { seq: 2, canonical_id: topicId },
    ]);
    expect(await listUnlinked(db, new Set(["GRANTS_GOV"]))).toEqual([]);
    expect(await findLink(db, aContent(topic("SBIR_GOV", "t1")))).toEqual({ key: "T1", canonical_id: topicId });
    expect(await findLink(db, aContent(topic("SBIR_GOV", "T3")))).toBeUndefined();
    expect(await findLink(db, aContent(topic("DSIP", "T1")))).toBeUndefined();
    await db.close();
  });
});
