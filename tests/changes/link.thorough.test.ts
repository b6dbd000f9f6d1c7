/** Links between records of different sources, on each engine: whichever comes first, and only as long as their reason is there. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import type { Draft, Format } from "../../src/import/format.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { nasaNspires } from "../../src/import/formats/nasa-nspires.ts";
import { nasaRoses } from "../../src/import/formats/nasa-roses.ts";
import { nsf } from "../../src/import/formats/nsf.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { sbirGov } from "../../src/import/formats/sbir-gov.ts";
import { simplerGrantsGov } from "../../src/import/formats/simpler-grants-gov.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { onPostgres } from "../support/database-locations.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, contentsOf, dropScratch, ordersOf, withoutLinks } from "../support/imports.ts";
import { expectLinear } from "../support/linear.ts";
import { EXCERPTS } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";
import { type Given, linked, unlinked } from "./link-cases.ts";

afterAll(dropScratch);

type Drafted = Partial<Draft> & { source: { code: string; opportunity_id: string } };

const record = (code: string, id: string, title: string, fields: object = {}): Drafted => ({
  source: { code, opportunity_id: id },
  title,
  ...fields,
});
const numbered = (code: string, id: string, number: string, title: string, program: object = {}) =>
  record(code, id, title, { program: { solicitation_id: number, ...program } });

/** Who names whom: "NSF 5 is GRANTS_GOV 7", "NSF 5 is part of GRANTS_GOV 7". */
async function linksIn(db: CatalogDb): Promise<string[]> {
  const rows = await db.all(
    rawSql<{ source: string; source_opportunity_id: string; id: string; canonical_id: string | null; parent_id: string | null }>(
      "select source, source_opportunity_id, id, canonical_id, parent_id from opportunities",
    ),
  );
  const names = new Map(rows.map((row) => [row.id, `${row.source} ${row.source_opportunity_id}`]));
  return rows
    .flatMap(({ id, canonical_id, parent_id }) => [
      ...(canonical_id === null ? [] : [`${names.get(id)} is ${names.get(canonical_id)}`]),
      ...(parent_id === null ? [] : [`${names.get(id)} is part of ${names.get(parent_id)}`]),
    ])
    .sort();
}

/** A record of link-cases.ts as a file has it. */
const asFiled = ({ ids, ...fields }: Given) => ({ ...fields, earlier_ids: ids.slice(1) });

const cases: [what: string, records: object[], links: string[]][] = [
  ...linked.map(([what, records, links]): [string, object[], string[]] => [what, records.map(asFiled), links]),
  ...unlinked.map(([what, records]): [string, object[], string[]] => [what, records.map(asFiled), []]),
  [
    "a UUID that two records of Grants.gov were told: the one with the smaller id",
    [
      record("SIMPLER_GRANTS_GOV", "uuid", "A"),
      ...["1", "2"].map((id) => record("GRANTS_GOV", id, "B", { lineage: id, earlier_ids: ["uuid"] })),
    ],
    [`SIMPLER_GRANTS_GOV uuid is GRANTS_GOV ${opportunityId("GRANTS_GOV", "1") < opportunityId("GRANTS_GOV", "2") ? 1 : 2}`],
  ],
];

describe.each(engines)("links on %s", (name, isThere, emptyCatalog) => {
  test.if(isThere).each(cases)("are the same in any order of arrival: %s", async (_, records, links) => {
    const all = ordersOf(records);
    // Every order on SQLite, where the first and the last one are rehearsed; the last one on PostgreSQL.
    const orders = name === "SQLite" ? all : [records.toReversed()];
    for (const order of orders) {
      const isRehearsed = order === all[0] || order === all.at(-1);
      const catalog = await aCatalog(await emptyCatalog());
      for (const each of order) {
        const dry = isRehearsed ? await catalog.take([each], { dryRun: true }) : undefined;
        expect(withoutLinks(await catalog.take([each]))).toEqual(dry ?? expect.anything());
      }
      expect(await linksIn(catalog.db)).toEqual(links);
      expect(await checkCatalog(catalog.db)).toEqual([]);
      if (isRehearsed) {
        const contents = await contentsOf(catalog.db);
        expect(await catalog.take(records)).toMatchObject({ unchanged: records.length, linked: 0, events: 0 });
        expect(await contentsOf(catalog.db)).toBe(contents);
      }
      await catalog.db.close();
    }
    const together = await aCatalog(await emptyCatalog());
    const dry = await together.take(records, { dryRun: true });
    expect(withoutLinks(await together.take(records))).toEqual(dry);
    expect(await linksIn(together.db)).toEqual(links);
    await together.db.close();
  });

  test.if(isThere)("go when their reason goes, for a record that is in no file, too, and come back with it", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    const grant = (number: string, title = "Soil") => numbered("GRANTS_GOV", "7", number, title);
    await catalog.take([numbered("NSF", "1", "nsf25501", "Soil"), numbered("NSF", "2", "nsf25501", "Sand"), grant("25-501")]);
    expect(await linksIn(catalog.db)).toEqual(["NSF 1 is GRANTS_GOV 7", "NSF 2 is part of GRANTS_GOV 7"]);
    for (const [changed, linked, links] of [
      [grant("25-502"), 2, []],
      [grant("25-501", "Sand"), 2, ["NSF 1 is part of GRANTS_GOV 7", "NSF 2 is GRANTS_GOV 7"]],
      [grant("25-501"), 2, ["NSF 1 is GRANTS_GOV 7", "NSF 2 is part of GRANTS_GOV 7"]],
    ] as const) {
      const dry = await catalog.take([changed], { dryRun: true });
      const taken = await catalog.take([changed]);
      expect(taken).toMatchObject({ changed: 1, linked });
      expect(withoutLinks(taken)).toEqual(dry);
      expect(await linksIn(catalog.db)).toEqual([...links]);
      expect(await checkCatalog(catalog.db)).toEqual([]);
    }
    await catalog.db.close();
  });

  test.if(isThere)("leave alone what a source states", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    const stated = { canonical_id: "00000000-0000-4000-8000-000000000000", parent_id: null };
    await catalog.take([{ ...numbered("NSF", "1", "nsf25501", "Soil"), relationships: stated }]);
    expect(await catalog.take([numbered("GRANTS_GOV", "7", "25-501", "Soil")])).toMatchObject({ linked: 0 });
    const named = await catalog.db.all(rawSql<{ canonical_id: string }>("select canonical_id from opportunities where source = 'NSF'"));
    expect(named).toEqual([{ canonical_id: stated.canonical_id }]);
    // It does not state it any more: the rule finds the grant.
    await catalog.take([numbered("NSF", "1", "nsf25501", "Soil")]);
    expect(await linksIn(catalog.db)).toEqual(["NSF 1 is GRANTS_GOV 7"]);
    await catalog.db.close();
  });
});

test.skipIf(onPostgres)("records that share one number are linked in time proportional to their count", async () => {
  await expectLinear(200, async (count) => {
    const { db, take } = await aCatalog();
    const each = (code: string) => Array.from({ length: count }, (_, n) => numbered(code, `${n}`, "PAR-25-001", `T${n}`));
    expect(await take(each("SIMPLER_GRANTS_GOV"))).toMatchObject({ added: count });
    // The titles tell them apart.
    expect(await take(each("GRANTS_GOV"))).toMatchObject({ linked: count });
    await db.close();
  });
});

/** Real files of all sources between which the rules lead. */
const files: [format: Format, ...paths: string[]][] = [
  [
    grantsGov,
    "grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz",
    "grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz",
  ],
  [simplerGrantsGov, "simpler-grants-gov/grants-search-20260617.csv.gz"],
  [nsf, "nsf/nsf_funding-20250717.csv.gz"],
  [sbirGov, "sbir-gov/topics_search-20250714.csv.gz", "sbir-gov/sbir-topics-20260617.csv.gz"],
  [nasaRoses, "nasa-roses/roses-2025-table3.html"],
  [nasaNspires, "nasa-nspires/solicitationsJSON-20261005.reconstructed.json"],
  [samGov, "sam-gov/daily/wins-20260421.json.gz"],
];

test("links between real records are the same in any order of files", async () => {
  const found: string[][] = [];
  for (const order of [files, files.toReversed()]) {
    const { db, takeFiles } = await aCatalog();
    for (const [format, ...paths] of order)
      await takeFiles(
        paths.map((path) => join(EXCERPTS, path)),
        { format },
      );
    found.push(await linksIn(db));
    expect(await checkCatalog(db)).toEqual([]);
    for (const [format, ...paths] of order === files ? files : [])
      expect(
        await takeFiles(
          paths.map((path) => join(EXCERPTS, path)),
          { format },
        ),
      ).toMatchObject({ linked: 0, events: 0 });
  }
  expect(found[1]).toEqual(found[0] as string[]);
  expect(found[0]).toMatchSnapshot();
});
