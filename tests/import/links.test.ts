import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import type { Format, Item } from "../../src/import/format.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { aCatalog, contentsOf, cutShort, documentsOf, dropScratch, eventsOf, type TestCatalog, withoutLinks } from "../support/imports.ts";

afterAll(dropScratch);

/** The id of a record that is not there. */
const OTHER_ID = "00000000-0000-4000-8000-000000000000";

/** The record as the API returns it. */
async function record({ db }: TestCatalog, source: string, upstreamId: string): Promise<Opportunity> {
  const found = (await documentsOf(db)).find(({ id }) => id === opportunityId(source, upstreamId));
  if (found === undefined) throw new Error(`There is no ${source} ${upstreamId}`);
  return found as unknown as Opportunity;
}

const topic = (code: string, agency = "Department of Defense") => ({
  source: { code, opportunity_id: "N251-001" },
  title: "Quiet propellers",
  organization: { agency },
});
const grant = (code: string, id: string, number: string, title = "Soil") => ({
  source: { code, opportunity_id: id },
  title,
  program: { solicitation_id: number },
});

describe("the same opportunity in two sources", () => {
  test("a topic of SBIR.gov names the portal's topic that came before it", async () => {
    const catalog = await aCatalog();
    await catalog.take([topic("DSIP")]);
    await catalog.take([topic("SBIR_GOV")]);
    expect((await record(catalog, "SBIR_GOV", "N251-001")).relationships.canonical_id).toBe(opportunityId("DSIP", "N251-001"));
    expect((await record(catalog, "DSIP", "N251-001")).relationships.canonical_id).toBeNull();
  });

  test("a topic that was there first is linked when the portal's arrives, with an event of its own", async () => {
    const catalog = await aCatalog();
    await catalog.take([topic("SBIR_GOV")]);
    expect(await catalog.take([topic("DSIP")])).toMatchObject({ added: 1, changed: 0, linked: 1, events: 2 });
    expect((await record(catalog, "SBIR_GOV", "N251-001")).relationships.canonical_id).toBe(opportunityId("DSIP", "N251-001"));
    expect(
      (await eventsOf(catalog.db, "N251-001"))
        .filter(({ opportunity_id }) => opportunity_id === opportunityId("SBIR_GOV", "N251-001"))
        .map(({ type, changed_fields }) => [type, changed_fields]),
    ).toEqual([
      ["opportunity_added", []],
      ["field_updated", ["relationships.canonical_id"]],
    ]);
  });

  test("a record that changes in the import that links it has both changes in its history", async () => {
    const catalog = await aCatalog();
    const simpler = grant("SIMPLER_GRANTS_GOV", "b1a2", "PAR-25-001");
    await catalog.take([simpler]);
    const changed = { ...simpler, contacts: [{ name: "Ann" }] };
    const given = [changed, grant("GRANTS_GOV", "358302", "PAR-25-001")];
    expect(await catalog.take(given)).toMatchObject({ added: 1, changed: 1, linked: 1, events: 3 });
    expect((await eventsOf(catalog.db, "b1a2")).map(({ changed_fields }) => changed_fields)).toEqual([
      [],
      ["contacts"],
      ["relationships.canonical_id"],
    ]);
    expect(await checkCatalog(catalog.db)).toEqual([]);
    expect(await catalog.take(given)).toMatchObject({ unchanged: 2, changed: 0 });
  });

  test("a record is linked by an earlier id of another one, whether that changes or not", async () => {
    const [earlier, now] = ["1", "2"].map((digit) => digit.repeat(32)) as [string, string];
    const notice = { source: { code: "SAM_GOV", opportunity_id: now }, title: "Roof" };
    const darpa = { source: { code: "DARPA", opportunity_id: "1", url: `https://sam.gov/opp/${earlier}/view` }, title: "Roof" };
    for (const before of [[darpa], [darpa, notice]]) {
      const catalog = await aCatalog();
      await catalog.take(before);
      expect(await catalog.take([{ ...notice, earlier_ids: [earlier] }])).toMatchObject({ linked: 1 });
    }
  });

  const simpler = (number: string, fields: object = {}) => ({ ...grant("SIMPLER_GRANTS_GOV", "S1", number), ...fields });

  test.each([
    ["the number came to mean a newer grant, too", [grant("GRANTS_GOV", "102", "PAR-25-001"), simpler("PAR-25-001")], "102"],
    [
      "the number came to mean two grants",
      [grant("GRANTS_GOV", "101", "PAR-25-001", "Air"), grant("GRANTS_GOV", "102", "PAR-25-001", "Sea"), simpler("PAR-25-001")],
      null,
    ],
    ["the grant got another number", [grant("GRANTS_GOV", "101", "PAR-25-002"), simpler("PAR-25-001")], null],
    [
      "two grants changed places",
      [grant("GRANTS_GOV", "101", "PAR-25-002"), grant("GRANTS_GOV", "102", "PAR-25-001"), simpler("PAR-25-001")],
      "102",
    ],
    ["the same, and the record changed too", [simpler("PAR-25-001", { summary: "New" }), grant("GRANTS_GOV", "102", "PAR-25-001")], "102"],
    [
      "its last version states a link",
      [
        simpler("PAR-25-001"),
        grant("GRANTS_GOV", "102", "PAR-25-001"),
        simpler("PAR-25-001", { relationships: { canonical_id: OTHER_ID } }),
      ],
      OTHER_ID,
    ],
  ])("a link that a file itself moves is as it stays when the file is imported again: %s", async (_, file, expected) => {
    for (const before of [[], [simpler("PAR-25-001")]]) {
      const catalog = await aCatalog();
      await catalog.take([grant("GRANTS_GOV", "101", "PAR-25-001"), ...before]);
      const dry = await catalog.take(file, { dryRun: true });
      expect(withoutLinks(await catalog.take(file))).toEqual(dry);
      const { canonical_id } = (await record(catalog, "SIMPLER_GRANTS_GOV", "S1")).relationships;
      expect(canonical_id).toBe(expected?.startsWith("10") ? opportunityId("GRANTS_GOV", expected) : expected);
      const contents = await contentsOf(catalog.db);
      expect(await catalog.take(file)).toMatchObject({ changed: 0, linked: 0, events: 0 });
      expect(await contentsOf(catalog.db)).toBe(contents);
      expect(await checkCatalog(catalog.db)).toEqual([]);
    }
  });

  test("a link that an import moved and was killed before correcting is corrected when it is run again", async () => {
    const catalog = await aCatalog();
    await catalog.take([grant("GRANTS_GOV", "101", "PAR-25-001")]);
    const file = [simpler("PAR-25-001"), grant("GRANTS_GOV", "101", "PAR-25-002")];
    await cutShort(catalog, 1, () => catalog.take(file));
    expect((await record(catalog, "SIMPLER_GRANTS_GOV", "S1")).relationships.canonical_id).not.toBeNull();
    await catalog.take(file);
    expect((await record(catalog, "SIMPLER_GRANTS_GOV", "S1")).relationships.canonical_id).toBeNull();
  });

  test("records of sources without a rule keep what they state", async () => {
    const catalog = await aCatalog();
    await catalog.take([topic("ACME"), { ...topic("OWN"), relationships: { canonical_id: OTHER_ID } }]);
    expect((await record(catalog, "ACME", "N251-001")).relationships.canonical_id).toBeNull();
    expect((await record(catalog, "OWN", "N251-001")).relationships.canonical_id).toBe(OTHER_ID);
  });
});

/** A format whose records are these. */
function fixed(items: readonly Omit<Extract<Item, { record: unknown }>, "input" | "line" | "raw">[]): Format {
  return {
    name: "fixed",
    about: "",
    async *read([input]) {
      for (const [index, item] of items.entries()) if (input !== undefined) yield { input, line: index + 1, raw: null, ...item };
    },
  };
}

describe("parents", () => {
  const stages = ["sought", "presolicitation", "solicitation", "award"];

  /** Notices of one acquisition, each its own stage. */
  function notices(...ids: string[]): Format {
    const version = (id: string) => ({ source: "SAM_GOV", id });
    return {
      name: "notices",
      about: "",
      versions: {
        async *in() {
          for (const id of ids) yield { ...version(id), facts: { key: `S|${id}`, series: "S", title: "Roof", posted: null } };
        },
        parentsOf: (key) =>
          stages
            .slice(0, stages.indexOf(key.slice(2)))
            .toReversed()
            .map((stage) => `S|${stage}`),
      },
      async *read([input]) {
        if (input === undefined) return;
        for (const [index, id] of ids.entries())
          yield {
            kind: "record",
            input,
            line: index + 1,
            raw: null,
            version: version(id),
            record: { source: { code: "SAM_GOV", opportunity_id: id }, title: "Roof" },
          };
      },
    };
  }

  const parentsIn = async ({ db }: TestCatalog) =>
    Object.fromEntries(
      ((await documentsOf(db)) as unknown as Opportunity[]).map(({ source, relationships }) => [
        source.opportunity_id,
        relationships.parent_id,
      ]),
    );
  const the = (stage: string) => opportunityId("SAM_GOV", `S|${stage}`);

  test.each([
    ["one import", [["award", "sought", "solicitation"]], 0],
    ["the earliest first", [["sought"], ["solicitation"], ["award"]], 0],
    ["the latest first", [["award"], ["solicitation"], ["sought"]], 2],
    ["the nearest last", [["award", "sought"], ["solicitation"]], 1],
  ])("are the nearest earlier stages: %s", async (_, imports, linked) => {
    const catalog = await aCatalog();
    let links = 0;
    for (const ids of imports) {
      const format = notices(...ids);
      const dry = await catalog.take([{}], { format, dryRun: true });
      const summary = await catalog.take([{}], { format });
      expect(withoutLinks(summary)).toEqual(dry);
      links += summary.linked;
    }
    expect(links).toBe(linked);
    expect(await parentsIn(catalog)).toEqual({ sought: null, solicitation: the("sought"), award: the("solicitation") });
    expect(await catalog.take([{}], { format: notices("award") })).toMatchObject({ unchanged: 1, events: 0 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("that are new are linked in their own transaction, so that an import that is killed after it leaves out none", async () => {
    const catalog = await aCatalog();
    await catalog.take([{}], { format: notices("award") });
    const solicitation = notices("solicitation");
    const format: Format = {
      ...solicitation,
      async *read(inputs, context) {
        yield* solicitation.read(inputs, context);
        const [input] = inputs;
        if (input !== undefined) yield { kind: "record", input, line: 2, raw: null, record: topic("ZZZ") };
      },
    };
    await cutShort(catalog, 1, () => catalog.take([{}], { format, chunk: 1 }));
    await catalog.take([{}], { format, chunk: 1 });
    expect(await parentsIn(catalog)).toMatchObject({ solicitation: null, award: the("solicitation") });
  });
});

describe("partial records", () => {
  const whole = {
    source: { code: "A", opportunity_id: "1" },
    title: "One",
    description: "Long text",
    organization: { agency: "NASA", sub_agency: "JPL" },
  };

  test("change the fields that they have, and keep the others", async () => {
    const catalog = await aCatalog();
    await catalog.take([whole]);
    const part = { source: { code: "A", opportunity_id: "1" }, title: "Two", organization: { agency: "NSF" } };
    await catalog.take([{}], { format: fixed([{ kind: "record", record: part, partial: "omits" }]) });
    expect(await record(catalog, "A", "1")).toMatchObject({
      title: "Two",
      description: "Long text",
      organization: { agency: "NSF", sub_agency: "JPL" },
    });
  });

  test('add to stored lists with "adds", and replace them otherwise', async () => {
    const catalog = await aCatalog();
    const listing = (...tech_taxonomy: string[]) => ({ ...whole, classifications: { tech_taxonomy } });
    const taxonomy = async () => (await record(catalog, "A", "1")).classifications.tech_taxonomy;
    await catalog.take([listing("FAC:ST", "ALN:15.808")]);
    expect(await catalog.take([{}], { format: fixed([{ kind: "record", record: listing("ALN:15.808"), partial: "adds" }]) })).toMatchObject(
      {
        unchanged: 1,
      },
    );
    await catalog.take([{}], { format: fixed([{ kind: "record", record: listing("ALN:15.815"), partial: "adds" }]) });
    expect(await taxonomy()).toEqual(["FAC:ST", "ALN:15.808", "ALN:15.815"]);
    await catalog.take([{}], { format: fixed([{ kind: "record", record: listing("FAC:ST"), partial: "omits" }]) });
    expect(await taxonomy()).toEqual(["FAC:ST"]);
  });

  test("clear a field with null", async () => {
    const catalog = await aCatalog();
    await catalog.take([whole]);
    const part = { source: { code: "A", opportunity_id: "1" }, title: "One", description: null };
    await catalog.take([{}], { format: fixed([{ kind: "record", record: part, partial: "omits" }]) });
    expect((await record(catalog, "A", "1")).description).toBeNull();
  });

  test("add each new item to a list once", async () => {
    const catalog = await aCatalog();
    await catalog.take([{ ...whole, contacts: [{ name: "Ann" }], classifications: { keywords: ["a"] } }]);
    const part = { source: { code: "A", opportunity_id: "1" }, title: "One" };
    const ann = { name: "Ann", email: null, phone: null, role: null };
    const hit = { ...part, contacts: [{ ...ann, name: "Bob" }, ann], classifications: { keywords: ["b", "a"] } };
    const format = fixed([{ kind: "record", record: hit, partial: "adds" }]);
    await catalog.take([{}], { format });
    expect(await record(catalog, "A", "1")).toMatchObject({
      contacts: [{ name: "Ann" }, { name: "Bob" }],
      classifications: { keywords: ["a", "b"] },
    });
    expect(await catalog.take([{}], { format })).toMatchObject({ unchanged: 1, changed: 0 });
  });
});
