/** Grants.gov's extract and the API of its successor: the same opportunities in other layouts are the same records. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { simplerGrantsGov } from "../../src/import/formats/simpler-grants-gov.ts";
import { csvRows } from "../../src/import/readers/csv-rows.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import {
  aCatalog,
  aFile,
  documentsOf,
  dropScratch,
  eventsOf,
  opportunitiesOf,
  ordersOf,
  type TestCatalog,
  withoutLinks,
} from "../support/imports.ts";
import { pieces, readFormat, textInput } from "../support/read-format.ts";
import { realFile, realJson, realPath } from "../support/real-data.ts";
import { detailText, extractText, legacyXml, realXml, type SimplerRecord, searchText, simplerRecords } from "../support/simpler-layouts.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const NOW = Date.parse("2026-06-17T12:00:00Z");
const records = simplerRecords();
const ids = new Set(records.map(({ legacy_opportunity_id }) => String(legacy_opportunity_id)));

async function aCatalogOfThen(): Promise<TestCatalog> {
  const catalog = await aCatalog();
  catalog.clock.now = NOW;
  return catalog;
}

/** Lists in another order, as two answers may have them. */
const reordered = records.map((record) => ({
  ...record,
  opportunity_assistance_listings: record.opportunity_assistance_listings.toReversed(),
  summary: Object.fromEntries(
    Object.entries(record.summary).map(([name, value]) => [name, Array.isArray(value) ? value.toReversed() : value]),
  ),
}));

const layouts = {
  xml: legacyXml(records),
  extract: extractText(records),
  search: searchText(reordered),
};
type LayoutName = keyof typeof layouts;
const isWhole = (name: LayoutName) => name !== "search";

/** Changes of them make no event. */
const applicantsIn = async ({ db }: TestCatalog) =>
  (await opportunitiesOf(db)).map(({ id, sidecar }) => [id, sidecar.applicant_types]).filter(([, types = []]) => types.length > 1);

describe("opportunities with the same values in each layout", () => {
  test.each(ordersOf(Object.keys(layouts) as LayoutName[]).map((names) => [names.join(", then "), names] as const))(
    "%s: no event after the first",
    async (_, names) => {
      const catalog = await aCatalogOfThen();
      const take = (name: LayoutName) => catalog.take(layouts[name], { format: grantsGov, snapshot: isWhole(name) });
      expect(await take(names[0] as LayoutName)).toMatchObject({ read: 24, added: 24, rejected: 0, messages: [] });
      const first = await documentsOf(catalog.db);
      const applicants = await applicantsIn(catalog);
      for (const name of [...names, ...names.toReversed(), ...names])
        expect([name, await take(name)]).toMatchObject([
          name,
          { read: 24, added: 0, changed: 0, removed: 0, rejected: 0, events: 0, linked: 0 },
        ]);
      expect(await documentsOf(catalog.db)).toEqual(first);
      expect(await applicantsIn(catalog)).toEqual(applicants);
      expect(await checkCatalog(catalog.db)).toEqual([]);
    },
  );

  test("two layouts in one import give the same as one after the other", async () => {
    for (const [one, other] of [
      ["xml", "search"],
      ["search", "extract"],
    ] as const) {
      const [together, inTurn] = [await aCatalogOfThen(), await aCatalogOfThen()];
      const files = [aFile(layouts[one]), aFile(layouts[other])];
      expect(await together.takeFiles(files, { format: grantsGov })).toMatchObject({ read: 48, added: 24, merged: 24, events: 24 });
      for (const file of files) await inTurn.takeFiles([file], { format: grantsGov });
      const served = async (catalog: TestCatalog) =>
        (await documentsOf(catalog.db)).map(({ created_at: _, updated_at: __, ...rest }) => rest);
      expect(await served(together)).toEqual(await served(inTurn));
    }
  });

  test("both ids find the record", async () => {
    const catalog = await aCatalogOfThen();
    await catalog.take(layouts.xml, { format: grantsGov });
    await catalog.take(layouts.search, { format: grantsGov });
    const [first] = records;
    const found = await catalog.db.all(
      rawSql<{ upstream_id: string }>(
        `select upstream_id from upstream_ids where opportunity_seq = (select opportunity_seq from upstream_ids where upstream_id = '${first?.opportunity_id}') order by 1`,
      ),
    );
    expect(found.map(({ upstream_id }) => upstream_id)).toEqual([String(first?.legacy_opportunity_id), String(first?.opportunity_id)]);
  });
});

describe("real extracts of other days", () => {
  type Compared = { pairs: { legacy_opportunity_id: number; fields: { field: string; result: string }[] }[] };
  const { pairs } = realJson<Compared>("simpler-api/comparison.json");
  /** What is compared field by field in `comparison.json`, and whole in the excerpts. Their texts are cut off and have no mark-up. */
  const compared: Readonly<Record<string, string>> = { title: "title", "dates.closes_at": "close_date", "dates.posted_at": "post_date" };
  const isOfInterest = (field: string) => field in compared || /^(status|funding|source)/.test(field);

  test.each([
    ["20260726", 19],
    ["20260803", 17],
  ])("the extract of %s and the search of 2026-06-17 differ in what their texts show, in either order", async (day, count) => {
    const xml = realXml(`grants-gov/derived/GrantsDBExtract${day}v2.reconstructed.xml`, ids);
    const here = new Set([...xml.matchAll(/<OpportunityID>(\d+)</g)].map(([, id]) => id));
    const data = records.filter(({ legacy_opportunity_id }) => here.has(String(legacy_opportunity_id)));
    expect(data).toHaveLength(count);
    const differing = pairs
      .filter(({ legacy_opportunity_id }) => here.has(String(legacy_opportunity_id)))
      .flatMap(({ legacy_opportunity_id, fields }) =>
        fields
          .filter(({ field, result }) => result === "differs" && Object.values(compared).includes(field))
          .map(({ field }) => `${legacy_opportunity_id} ${field}`),
      );
    for (const texts of [
      [xml, searchText(data)],
      [searchText(data), xml],
    ]) {
      const catalog = await aCatalogOfThen();
      for (const text of texts) expect(await catalog.take(text, { format: grantsGov })).toMatchObject({ read: count, rejected: 0 });
      const found: string[] = [];
      for (const { source } of await documentsOf(catalog.db))
        for (const { changed_fields } of await eventsOf(catalog.db, source.opportunity_id))
          for (const field of changed_fields.filter(isOfInterest)) found.push(`${source.opportunity_id} ${compared[field] ?? field}`);
      // A posting day that the extract lacks stays.
      const isKept = (each: string) => texts[1] === xml && each === "280932 post_date";
      expect(found.sort()).toEqual(differing.filter((each) => !isKept(each)).sort());
    }
  });
});

/** Rows of the website's file, which the same serializer writes, as the API has them. It names no ids of Grants.gov: these are made up. */
async function recordsOfCsv(): Promise<SimplerRecord[]> {
  const rows = await Array.fromAsync(csvRows(pieces(realFile("simpler-grants-gov/grants-search-20260617.csv")), []));
  const orNull = (text = "") => (text === "" ? null : text);
  const list = (text = "") => text.split(";").filter(Boolean);
  return rows.map(({ raw: row }, index) => {
    const text = (name: string) => orNull(row[name]);
    const number = (name: string) => (row[name] ? Number(row[name]) : null);
    const texts = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, text(name)]));
    const numbers = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, number(name)]));
    return {
      ...(texts(
        "opportunity_id opportunity_number opportunity_title agency_name top_level_agency_name agency_code category category_explanation opportunity_status",
      ) as never as Omit<SimplerRecord, "summary" | "legacy_opportunity_id" | "opportunity_assistance_listings">),
      legacy_opportunity_id: 900_000 + index,
      opportunity_assistance_listings: (row.opportunity_assistance_listings ?? "")
        .split(/;(?=\s*\d\d\.)/)
        .filter(Boolean)
        .map((listing) => ({ assistance_listing_number: listing.split("|")[0] ?? "", program_title: listing.split("|")[1] ?? "" })),
      summary: {
        ...texts(
          "summary_description close_date close_date_description post_date archive_date additional_info_url additional_info_url_description forecasted_post_date forecasted_close_date forecasted_close_date_description forecasted_award_date forecasted_project_start_date funding_category_description applicant_eligibility_description agency_contact_description agency_email_address",
        ),
        ...numbers("expected_number_of_awards estimated_total_program_funding award_floor award_ceiling fiscal_year"),
        is_cost_sharing: row.is_cost_sharing === "" ? null : row.is_cost_sharing === "True",
        is_forecast: row.is_forecast === "True",
        funding_instruments: list(row.funding_instruments),
        funding_categories: list(row.funding_categories),
        applicant_types: list(row.applicant_types),
      },
    };
  });
}

test("124 opportunities, four of them forecasts, are the same in each layout", async () => {
  const all = await recordsOfCsv();
  const texts = [legacyXml(all), searchText(all), extractText(all)];
  for (const [one = "", ...others] of [texts, texts.toReversed()]) {
    const catalog = await aCatalogOfThen();
    expect(await catalog.take(one, { format: grantsGov })).toMatchObject({ added: 124, rejected: 0, messages: [] });
    for (const other of [...others, one])
      expect(await catalog.take(other, { format: grantsGov })).toMatchObject({ unchanged: 124, events: 0 });
  }
});

describe("a difference", () => {
  const first = records.find(({ summary }) => summary.additional_info_url_description) as SimplerRecord;
  const withSummary = (summary: object): SimplerRecord => ({ ...first, summary: { ...first.summary, ...summary } });
  const description = (text: string) => withSummary({ summary_description: text });
  const named = (top_level_agency_name: string, agency_name: string) => ({ ...first, top_level_agency_name, agency_name });

  test.each<[what: string, before: SimplerRecord, after: SimplerRecord, changed: string[]]>([
    ["in mark-up is none", description("<p>Text&nbsp;of <b>it</b></p>"), description("<div>Text of <i>it</i></div>"), []],
    ["in where a link leads", description('<a href="https://a.gov">A</a>'), description('<a href="https://b.gov">A</a>'), ["description"]],
    ["in a word", description("<p>Text</p>"), description("<p>Texts</p>"), ["summary", "description"]],
    ["in the department", named("Department of Energy", "ARPA-E"), named("Department of Defense", "ARPA-E"), ["organization.agency"]],
    [
      "in the agency",
      named("Department of Energy", "ARPA-E"),
      named("Department of Energy", "Office of Science"),
      ["organization.sub_agency"],
    ],
    ["in the style of an agency is none", named("DEPT OF ENERGY", "ARPA-E"), named("Department of Energy", "ARPA-E"), []],
    [
      "in the words of a link",
      withSummary({ additional_info_url_description: "A" }),
      withSummary({ additional_info_url_description: "B" }),
      ["attachments"],
    ],
    ["in missing words of a link is none", withSummary({ additional_info_url_description: null }), first, []],
    ["in a ceiling", withSummary({ award_ceiling: 5 }), withSummary({ award_ceiling: 6 }), ["funding.amount_max", "funding.display"]],
    [
      "in a title of a listing",
      first,
      { ...first, opportunity_assistance_listings: [{ assistance_listing_number: "12.431", program_title: "New" }] },
      ["classifications.keywords"],
    ],
  ])("%s", async (_, before, after, changed) => {
    const catalog = await aCatalogOfThen();
    await catalog.take(searchText([before]), { format: grantsGov });
    await catalog.take(searchText([after]), { format: grantsGov });
    const events = (await eventsOf(catalog.db, String(first.legacy_opportunity_id))).slice(1);
    expect(events.flatMap(({ changed_fields }) => changed_fields).sort()).toEqual([...changed].sort());
  });

  test("in the agency is none in a hit of Grants.gov's own search", async () => {
    const catalog = await aCatalogOfThen();
    await catalog.take(searchText([first]), { format: grantsGov });
    const {
      legacy_opportunity_id: id,
      opportunity_number: number,
      opportunity_title: title,
      agency_name: agency,
      agency_code: agencyCode,
    } = first;
    const openDate = String(first.summary.post_date).replace(/(\d+)-(\d+)-(\d+)/, "$2/$3/$1");
    const hit = { id: String(id), number, title, agency, agencyCode, openDate, closeDate: "", oppStatus: "posted", docType: "synopsis" };
    await catalog.take(JSON.stringify({ oppHits: [hit] }), { format: grantsGov });
    const changed = (await eventsOf(catalog.db, String(id))).flatMap(({ changed_fields }) => changed_fields);
    expect(changed.filter((field) => field.startsWith("organization"))).toEqual([]);
  });

  test.each([
    ["archived", {}, "archived"],
    ["closed", { archive_date: "2030-01-01" }, "closed"],
    ["closed", { close_date: "2030-01-01" }, "open"],
    ["posted", {}, "open"],
  ])("in a stated status %s with %j counts only without the date that says it: %s", async (opportunity_status, dates, status) => {
    const catalog = await aCatalogOfThen();
    const record = { ...withSummary({ close_date: null, archive_date: null, ...dates }), opportunity_status };
    await catalog.take(searchText([record]), { format: grantsGov });
    expect((await documentsOf(catalog.db)).map((each) => each.status)).toEqual([status]);
  });
});

describe("details of one opportunity", () => {
  const details = ["345938", "355150", "359802"].map((id) => realPath(`simpler-api/derived/detail-response-${id}.json`));
  const some = records.filter(({ legacy_opportunity_id }) => [345938, 355150, 359802].includes(Number(legacy_opportunity_id)));

  test.each([
    ["the extract", legacyXml(some)],
    ["the search", searchText(some)],
  ])("add files to what %s has, and files stay when it comes again", async (_, text) => {
    const catalog = await aCatalogOfThen();
    await catalog.take(text, { format: grantsGov });
    expect(await catalog.takeFiles(details, { format: grantsGov })).toMatchObject({ read: 3, added: 0, changed: 3, events: 3 });
    const [event] = (await eventsOf(catalog.db, "355150")).slice(1);
    expect(event).toMatchObject({ type: "attachments_changed", changed_fields: ["attachments"] });
    expect(event?.changes).toMatchObject([
      {
        current: [
          { name: "AAL BAA webpage", url: "https://aal.army/" },
          {
            name: "AAL_BAA_W911NF-24-S-0008.pdf: AAL BAA W911NF-24-S-0008",
            url: "https://files.simpler.grants.gov/opportunities/fdefec19-3fab-463e-b6ec-91285c15671a/attachments/acd312d3-c75e-4377-bca4-0f2978519302/AAL_BAA_W911NF-24-S-0008.pdf",
          },
        ],
      },
    ]);
    for (const each of [text, legacyXml(some), extractText(some), searchText(some)])
      expect(await catalog.take(each, { format: grantsGov })).toMatchObject({ changed: 0, events: 0 });
    expect(await catalog.takeFiles(details, { format: grantsGov })).toMatchObject({ changed: 0, events: 0 });
  });

  test("that come as one array are read one by one, and a file that is gone or replaced is news", async () => {
    const [first] = some;
    const file = (name: string, id: string) => ({
      file_name: name,
      file_description: "",
      download_path: `https://files.simpler.grants.gov/opportunities/${first?.opportunity_id}/attachments/${id}/${name}`,
    });
    const take = (...attachments: object[]) =>
      catalog.take(`[${detailText({ ...(first as SimplerRecord), attachments })}]`, { format: grantsGov });
    const catalog = await aCatalogOfThen();
    expect(await take(file("a.pdf", "1"), file("b.pdf", "2"))).toMatchObject({ added: 1 });
    expect(await take(file("b.pdf", "2"), file("a.pdf", "1"))).toMatchObject({ changed: 0 }); // Lists have no order.
    expect(await take(file("a.pdf", "3"), file("b.pdf", "2"))).toMatchObject({ changed: 1 });
    expect(await take(file("b.pdf", "2"))).toMatchObject({ changed: 1 });
  });

  test("that show another size of a file at the same address are news, and those without sizes are not", async () => {
    const [first] = some as [SimplerRecord];
    const download_path = `https://files.simpler.grants.gov/opportunities/${first.opportunity_id}/attachments/1/a.pdf`;
    const take = (stated: object) =>
      catalog.take(detailText({ ...first, attachments: [{ file_name: "a.pdf", download_path, ...stated }] }), { format: grantsGov });
    const catalog = await aCatalogOfThen();
    await take({ mime_type: "application/pdf", file_size_bytes: 500 });
    expect(await take({})).toMatchObject({ changed: 0 });
    expect(await take({ mime_type: "application/pdf", file_size_bytes: 500 })).toMatchObject({ changed: 0 });
    expect(await take({ mime_type: "application/pdf", file_size_bytes: 501 })).toMatchObject({ changed: 1 });
    const [change] = (await eventsOf(catalog.db, String(first.legacy_opportunity_id)))
      .slice(1)
      .flatMap(({ changes }) => changes as { current: unknown }[]);
    expect(change?.current).toContainEqual({ name: "a.pdf", url: download_path, kind: "application/pdf", size: 501 });
  });

  test.each([
    ["of the same sizes keep", 0, 3],
    ["without sizes keep", undefined, 3],
    ["of which one has another size replace", 1, 2],
  ])("%s the addresses of files that Grants.gov's own API named", async (_, more, kept) => {
    const own = realJson<{ synopsisAttachmentFolders: { synopsisAttachments: { fileName: string; fileLobSize: number }[] }[] }>(
      "grants-gov/opportunity-details-358302.json",
    );
    const files = own.synopsisAttachmentFolders.flatMap(({ synopsisAttachments }) => synopsisAttachments);
    expect(files).toHaveLength(3);
    const catalog = await aCatalogOfThen();
    await catalog.takeFiles([realPath("grants-gov/opportunity-details-358302.json")], { format: grantsGov });
    const attachments = files.map(({ fileName, fileLobSize }, index) => {
      const file_name = fileName.replaceAll(" ", "_").replace(/[^A-Za-z0-9_.~-]/g, "");
      const download_path = `https://files.simpler.grants.gov/opportunities/x/attachments/${index}/${file_name}`;
      return { file_name, download_path, ...(more !== undefined && { file_size_bytes: fileLobSize + (index === 0 ? more : 0) }) };
    });
    const record = { ...(records[0] as SimplerRecord), legacy_opportunity_id: 358302, attachments };
    await catalog.take(detailText(record), { format: grantsGov });
    const events = (await eventsOf(catalog.db, "358302")).filter(({ type }) => type === "attachments_changed");
    const [{ current = [] } = {}] = events.flatMap(({ changes }) => changes as { current?: { url: string }[] }[]);
    const count = (beginning: string) => current.filter(({ url }) => url.startsWith(beginning)).length;
    expect([count("https://apply07.grants.gov/"), count("https://files.simpler.grants.gov/")]).toEqual([kept, 3 - kept]);
  });
});

describe("what only one of the two has", () => {
  const [first, second] = records as [SimplerRecord, SimplerRecord];
  const born = { ...first, legacy_opportunity_id: null };

  test("an opportunity without an id of Grants.gov is known by its UUID, and no snapshot of the extract removes it", async () => {
    const catalog = await aCatalogOfThen();
    await catalog.take(extractText([born, second]), { format: grantsGov, snapshot: true });
    expect((await documentsOf(catalog.db)).map(({ source }) => [source.code, source.opportunity_id, source.url])).toContainEqual([
      "GRANTS_GOV",
      born.opportunity_id,
      `https://simpler.grants.gov/opportunity/${born.opportunity_id}`,
    ]);
    const taken = { format: grantsGov, snapshot: true, allowRemovals: true };
    expect(await catalog.take(legacyXml([second]), taken)).toMatchObject({ removed: 0, events: 0 });
    expect(await catalog.take(extractText([second]), taken)).toMatchObject({ removed: 1 });
  });

  test("an opportunity that is not posted yet stays when the API's extract lacks it, and a closed one does not", async () => {
    const later = { ...first, summary: { ...first.summary, post_date: "2026-12-01" } };
    const catalog = await aCatalogOfThen();
    await catalog.take(legacyXml([later, second, records[2] as SimplerRecord]), { format: grantsGov });
    const outcome = await catalog.take(extractText([second]), { format: grantsGov, snapshot: true, allowRemovals: true });
    expect(outcome).toMatchObject({ removed: 1, changed: 0 });
  });

  test("a search that finds more than it counts is no snapshot either", async () => {
    const catalog = await aCatalogOfThen();
    const text = searchText([first], { total: 10_000 }).replace('{"posted":1}', '{"posted":12000}');
    await expect(catalog.take(text, { format: grantsGov, snapshot: true })).rejects.toThrow("the search found 12000 opportunities");
  });

  test("a page of a search is no snapshot if others are missing", async () => {
    const catalog = await aCatalogOfThen();
    await expect(catalog.take(searchText([first], { total: 3 }), { format: grantsGov, snapshot: true })).rejects.toThrow(
      "the search found 3 opportunities; these files contain 1 of them",
    );
  });
});

describe("the file of the website", () => {
  const csv = realPath("simpler-grants-gov/grants-search-20260617.csv");
  const canonicalOf = async ({ db }: TestCatalog) =>
    new Map(
      (await documentsOf(db))
        .filter(({ source }) => source.code === "SIMPLER_GRANTS_GOV")
        .map(({ source, relationships }) => [source.opportunity_id, (relationships as { canonical_id: string | null }).canonical_id]),
    );
  /** Three of them have one number, so that it links none. */
  const alike = records.map((record, index) => ({ ...record, ...(index < 3 && { opportunity_number: "1" }) }));
  const expected = new Map(
    records.map(({ opportunity_id, legacy_opportunity_id }) => [
      opportunity_id,
      opportunityId("GRANTS_GOV", String(legacy_opportunity_id)),
    ]),
  );

  test.each([
    ["before", 24, 0],
    ["after", 0, 24],
  ])("names Grants.gov's record as soon as an answer has both ids, %s the file", async (order, linked) => {
    const catalog = await aCatalogOfThen();
    const file = { format: simplerGrantsGov };
    const search = { format: grantsGov };
    if (order === "before") {
      await catalog.takeFiles([csv], file);
      const dry = await catalog.take(searchText(alike), { ...search, dryRun: true });
      const { messages: _, ...taken } = await catalog.take(searchText(alike), search);
      expect(dry).toMatchObject(withoutLinks(taken));
      expect(taken.linked).toBe(linked);
    } else {
      await catalog.take(searchText(alike), search);
      await catalog.takeFiles([csv], file);
    }
    const found = await canonicalOf(catalog);
    for (const [id, canonical] of expected) expect([id, found.get(id)]).toEqual([id, canonical]);
    expect([...found.values()].filter((each) => each !== null)).toHaveLength(24);
    for (const again of [
      () => catalog.takeFiles([csv], file),
      () => catalog.take(searchText(alike), search),
      () => catalog.take(legacyXml(alike), search),
    ])
      expect(await again()).toMatchObject({ added: 0, changed: 0, linked: 0, events: 0 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });
});

describe("reading", () => {
  const read = (text: string) => readFormat(grantsGov, [textInput(text)]);

  test("takes each word of HHS's description for Grants.gov's code", async () => {
    const all = await read(searchText(records));
    expect([all.refused, all.warnings]).toEqual([[], []]);
    const strange = { ...(records[0] as SimplerRecord), category: "lottery" };
    expect((await read(searchText([strange]))).warnings).toEqual(['Unknown category "lottery" is kept as it is']);
  });

  test.each([
    [{ summary: null }, "summary must be an object: an opportunity without one is not posted"],
    [{ opportunity_id: null, legacy_opportunity_id: null }, "opportunity_id must not be blank"],
  ])("rejects %j alone", async (change, reason) => {
    const { refused, drafts } = await read(searchText([{ ...records[0], ...change } as never, records[1] as SimplerRecord]));
    expect([refused, drafts.length]).toEqual([[reason], 1]);
  });

  test.each([
    [
      '{"data": {}, "message": "Could not find Opportunity", "status_code": 404, "errors": []}',
      "it is an error message of Simpler.Grants.gov: 404 Could not find Opportunity",
    ],
    [
      '[{"message": "Too Many Requests", "status_code": 429}]',
      "element 1 is an error message of Simpler.Grants.gov: 429 Too Many Requests",
    ],
    [extractText(records).slice(0, 50_000), "it ends in the middle"],
  ])("refuses %p", async (text, reason) => {
    await expect(read(text)).rejects.toThrow(reason);
  });

  test("an extract of fifty megabytes takes a few of memory", async () => {
    const { text, taken } = extractOfMegabytes(50);
    for await (const item of grantsGov.read([{ name: "extract", bytes: text }], {
      warn: fail,
      incomplete: fail,
      neverHas: () => undefined,
    })) {
      if (item.kind !== "lazy") throw new Error(`the item is a ${item.kind} one`);
      item.read();
    }
    expect(taken.megabytes).toBeLessThan(20);
  });
});

function fail(message: string): never {
  throw new Error(message);
}

/** The extract, repeated, and the memory in use at its end beyond what was after a fifth. */
function extractOfMegabytes(count: number) {
  const taken = { megabytes: 0 };
  const whole = Buffer.from(extractText(records));
  const [start, end] = [whole.indexOf("[") + 1, whole.lastIndexOf("]")];
  const inUse = () => {
    Bun.gc(true);
    return process.memoryUsage().heapUsed / 1024 ** 2;
  };
  async function* text(): AsyncIterable<Uint8Array> {
    let [before, bytes] = [0, 0];
    yield whole.subarray(0, start);
    while (bytes < count * 1024 ** 2) {
      if (bytes > 0) yield Buffer.from(",");
      yield whole.subarray(start, end);
      bytes += end - start;
      if (before === 0 && bytes > (count * 1024 ** 2) / 5) before = inUse();
    }
    yield whole.subarray(end);
    taken.megabytes = inUse() - before;
  }
  return { text, taken };
}
