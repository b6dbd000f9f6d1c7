/** Every figure of the report on the data, counted again by SQL: in real records of all sources, and with a fault planted for each rule. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DUPLICATE, measuredFields, type SourceQuality } from "../../src/quality/report.ts";
import { dataRules } from "../../src/quality/rules.ts";
import { aDirectoryOfAll } from "../support/all-records.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";
import { clean, planted } from "./planted.ts";

afterAll(dropScratch);

let data: string;
let sql: Database;
let found: SourceQuality[];

const run = async (at: number, ...args: string[]) => (await fundfeed([...args, "--data", data], {}, () => at)).out;
const reported = async (at: number, ...args: string[]): Promise<SourceQuality[]> => JSON.parse(await run(at, "quality", "--json", ...args));

/** The records as they are at an instant, with what is stored beside them: all, or those that the options choose. */
async function openExport(at: number, ...options: string[]): Promise<Database> {
  const file = join(aDirectory(), "all.sqlite");
  await run(at, "export", "--format", "sqlite", file, ...options);
  const db = new Database(file);
  db.run("attach ? as catalog", [join(data, "catalog.db")]);
  db.run(`create temp table record as
    select r.document as d, cast(c.sidecar as text) as s, o.source, o.status, o.solicitation_id, o.contract_class, o.title,
      r.document ->> '$.dates.posted_at' as posted, r.document ->> '$.dates.opens_at' as opens,
      r.document ->> '$.dates.closes_at' as closes, r.document ->> '$.dates.response_at' as response
    from opportunity as o join opportunities as r on r.id = o.id join catalog.opportunities as c on c.id = o.id`);
  return db;
}

/** Where a field is: in the document, or beside it. */
const BESIDE = ["attachments", "questions", "applicant_types", "place", "award"];
const REQUIREMENTS = "d ->> '$.eligibility.requirements'";
const isFilled = (field: string) => {
  const note = `(char(10) || coalesce(${REQUIREMENTS}, '') like '%' || char(10) || 'Deadline note: %' or ${REQUIREMENTS} = 'Proposals accepted anytime')`;
  if (field === "deadline_note") return note;
  if (field === "eligibility.requirements")
    return `(coalesce(${REQUIREMENTS}, '') <> '' and ${REQUIREMENTS} not like 'Deadline note: %' and ${REQUIREMENTS} <> 'Proposals accepted anytime')`;
  const json = BESIDE.includes(field) ? "s" : "d";
  return `(coalesce(json_type(${json}, '$.${field}'), 'null') <> 'null' and ${json} ->> '$.${field}' not in ('', '[]'))`;
};

const ms = (instant: string) => `(unixepoch(${instant}, 'subsec') * 1000)`;
const anyDate = (holds: (at: string) => string) =>
  `(${["posted", "opens", "closes", "response"].map(holds).join(" or ")} or exists (
    select 1 from json_each(s, '$.due_dates') where ${holds("value ->> 'at'")}))`;
const due = `iif(${ms("response")} > :now, response, closes)`;
const texts = ["title", "d ->> '$.summary'", "d ->> '$.description'"];
const amount = (name: string) => `(d ->> '$.funding.amount_${name}')`;
const UNENDED = "('forecast', 'pre_release', 'open', 'closing_soon')";

/** The rules in SQL. `unknown_agency` needs the table of agencies: `sources status` counts it, too. */
const broken: Readonly<Record<string, string>> = {
  empty_title: "title not glob '*[A-Za-z0-9]*'",
  test_record:
    "title like 'test%please ignore%' or title like '%this is a test%' or title like '%test opportunity%' or title like 'for % % testing'",
  markup_in_title: "title glob '*<[a-zA-Z/]*>*' or title glob '*&[a-zA-Z]*;*' or title glob '*&#[0-9]*;*'",
  broken_text: `(${texts.map((text) => `instr(${text}, char(65533)) or instr(${text}, 'â€™') or instr(${text}, 'Ã©')`).join(" or ")})`,
  unknown_status: "status not in ('forecast', 'pre_release', 'open', 'closing_soon', 'closed', 'awarded', 'cancelled', 'archived')",
  past_due: `status in ${UNENDED} and ${ms(due)} <= :now`,
  due_before_posted: `status <> 'awarded' and (${ms("closes")} < ${ms("posted")} or ${ms("response")} < ${ms("posted")})`,
  closes_before_opens: `${ms("closes")} < ${ms("opens")}`,
  due_after_expiry: `exists (select 1 from json_each(s, '$.due_dates') where ${ms("value ->> 'at'")} > ${ms("s ->> '$.expires_at'")})`,
  posted_ahead: `status not in ('forecast', 'pre_release') and ${ms("posted")} > :now + 86400000`,
  far_date: anyDate((at) => `${ms(at)} > :now + 3653 * 86400000`),
  early_date: anyDate((at) => `${at} < '1980'`),
  min_over_max: `cast(${amount("min")} as real) > cast(${amount("max")} as real) and cast(${amount("max")} as real) <> 0`,
  negative_amount: `${amount("min")} like '-%' or ${amount("max")} like '-%'`,
  web_address: "d ->> '$.source.url' not like 'http%://_%._%'",
  email_address: `exists (select 1 from json_each(d, '$.contacts') where value ->> 'email' is not null
    and (value ->> 'email' not like '_%@_%._%' or value ->> 'email' glob '*[ ' || char(9, 10) || ']*' or value ->> 'email' like '%@%@%'))`,
  naics_code: `exists (select 1 from json_each(d, '$.classifications.naics_codes')
    where length(value) not between 2 and 6 or value glob '*[^0-9]*')`,
};

const countOf = (db: Database, source: string, where: string, now: number) => {
  const query = db.query<{ n: number }, Record<string, string | number>>(
    `select count(*) as n from record where source = :source and (${where})`,
  );
  return query.get({ ":source": source, ...(where.includes(":now") && { ":now": now }) })?.n ?? -1;
};

beforeAll(async () => {
  ({ data } = await aDirectoryOfAll());
  const [first, ...others] = [clean(), ...Object.values(planted).map((fault, n) => ({ ...clean(n + 1), ...fault }))];
  const records = others.map((each, n) => ({ ...each, source: { ...each.source, opportunity_id: `P${n}` } }));
  const twice = { ...first, source: { code: "OWN", opportunity_id: "again" } };
  const refused = { ...first, dates: { closes_at: "soon" } };
  await run(NOON + DAY / 2, "import", "records", aFile([first, twice, ...records, refused]));
  sql = await openExport(NOON + DAY / 2);
  found = await reported(NOON + DAY / 2);
});
afterAll(() => sql.close());

describe("figures", () => {
  test("are of each source that has records, how many there are, and how many are live and linked", () => {
    const rows = sql.query(
      `select source, count(*) as records, sum(status <> 'archived') as live, sum(d ->> '$.relationships.canonical_id' is not null) as linked
      from record group by source order by source`,
    );
    expect(found.map(({ source, records, live, linked }) => ({ source, records, live, linked }))).toEqual(rows.all() as never);
    expect(found.length).toBeGreaterThan(8);
  });

  test("are of each field in each source", () => {
    for (const { source, live, fill } of found) {
      expect(fill.map(({ field }) => field)).toEqual([...measuredFields]);
      const sums = measuredFields.map((field, n) => `sum(${isFilled(field)}) as f${n}`);
      const row = sql
        .query<Record<string, number>, [string]>(`select ${sums} from record where source = ? and status <> 'archived'`)
        .get(source);
      const expected = measuredFields.map((field, n) => {
        const records = row?.[`f${n}`] ?? 0;
        return { field, records, share: live === 0 ? 0 : Math.round((records / live) * 10_000) / 10_000 };
      });
      expect([source, fill]).toEqual([source, expected]);
    }
  });

  test.each(Object.entries(broken))("are of each source that breaks %s", (rule, where) => {
    const counted = found.map(({ source }) => [source, countOf(sql, source, where, NOON + DAY / 2)]);
    const told = found.map(({ source, findings }) => [source, findings.find((each) => each.rule === rule)?.records ?? 0]);
    expect(told).toEqual(counted);
    expect(told.some(([, records]) => records !== 0)).toBe(true);
  });

  test("are of records without a known agency, as the status of sources has them", async () => {
    const status = JSON.parse(await run(NOON + DAY / 2, "sources", "status", "--json")) as { source: string; unresolved: number }[];
    // There, those that name none are counted, too.
    const nameless =
      "d ->> '$.organization.agency' is null and d ->> '$.organization.sub_agency' is null and s ->> '$.agency_codes' is null";
    for (const { source, findings } of found) {
      const told = findings.find(({ rule }) => rule === "unknown_agency")?.records ?? 0;
      const { unresolved = -1 } = status.find((each) => each.source === source) ?? {};
      expect([source, told]).toEqual([source, unresolved - countOf(sql, source, nameless, 0)]);
    }
    expect(found.find(({ source }) => source === "OWN")?.findings).toContainEqual(
      expect.objectContaining({ rule: "unknown_agency", records: 1 }),
    );
  });

  test("are of duplicates", () => {
    const groups = `select count(*) - 1 as more from record where source = ? and trim(coalesce(solicitation_id, '')) <> ''
      group by upper(solicitation_id), upper(title), contract_class, posted`;
    for (const { source, findings } of found) {
      const counted = sql.query<{ n: number }, [string]>(`select coalesce(sum(more), 0) as n from (${groups})`).get(source)?.n;
      expect([source, findings.find(({ rule }) => rule === DUPLICATE.name)?.records ?? 0]).toEqual([source, counted ?? -1]);
    }
    expect(found.find(({ source }) => source === "OWN")?.findings).toContainEqual(
      expect.objectContaining({ rule: DUPLICATE.name, records: 1 }),
    );
  });

  test("are of all rules, and name records that break them", () => {
    expect([...Object.keys(broken), "unknown_agency"].sort()).toEqual(dataRules.map(({ name }) => name).sort());
    for (const { source, findings } of found)
      for (const { rule, records, sample_ids } of findings) {
        expect(sample_ids).toHaveLength(Math.min(records, 3));
        const where = broken[rule];
        if (where === undefined) continue;
        const ids = sample_ids.map((id) => `'${id}'`).join();
        expect(countOf(sql, source, `(${where}) and d ->> '$.id' in (${ids})`, NOON + DAY / 2)).toBe(sample_ids.length);
      }
  });

  test("are of the last import of each source", () => {
    const last = sql.query<{ id: number; read: number; rejected: number }, [string]>(
      `select imports.id, counts ->> '$.read' as read, counts ->> '$.rejected' as rejected from catalog.imports, json_each(sources)
      where value = ? and finished_at is not null order by imports.id desc limit 1`,
    );
    for (const { source, last_import } of found) expect(last_import).toMatchObject(last.get(source) ?? { id: -1 });
    expect(found.find(({ source }) => source === "OWN")?.last_import).toMatchObject({ rejected: 1 });
  });

  test("are of what it was before, and of what fell", async () => {
    const records = Array.from({ length: 20 }, (_, n) => clean(n)).map((each) => ({ ...each, source: { ...each.source, code: "FALL" } }));
    await run(NOON + DAY / 2, "import", "records", aFile(records));
    const before = await openExport(NOON + DAY / 2, "--source", "FALL");
    const worse = records.slice(0, 9).map((each, n) => ({ ...each, ...(n < 3 && { summary: null }), ...(n < 5 && { funding: null }) }));
    await run(NOON + DAY, "import", "records", aFile(worse), "--snapshot", "--allow-removals");
    const after = await openExport(NOON + DAY, "--source", "FALL");
    const [report] = await reported(NOON + DAY, "--source", "FALL");
    const live = (db: Database) => countOf(db, "FALL", "status <> 'archived'", 0) ?? 0;
    const share = (db: Database, field: string) => {
      const filled = countOf(db, "FALL", `status <> 'archived' and ${isFilled(field)}`, 0) ?? 0;
      return Math.round((filled / live(db)) * 10_000) / 10_000;
    };
    const fell = measuredFields
      .map((what) => ({ what, before: share(before, what), now: share(after, what) }))
      .filter(({ before, now }) => before - now >= 0.1);
    expect(fell.map(({ what }) => what)).toEqual(["summary", "funding.amount_min", "funding.amount_max"]);
    expect(report).toMatchObject({ compared: { live: live(before) }, falls: [{ what: "records", before: 20, now: 9 }, ...fell] });
    before.close();
    after.close();
  });
});
