/** @jsxImportSource hono/jsx */
/** The page of months: how many opportunities were posted, open and closed in each, and by which department. */
import type { Child } from "hono/jsx";
import { agencyByCode } from "../agencies/table.ts";
import { sourceStatuses } from "../opportunities/source-counts.ts";
import { countMonths, type MonthCounts, type Months } from "../search/months.ts";
import { monthInWords } from "../text/date-in-words.ts";
import { withCommas } from "../text/in-words.ts";
import { Bars } from "./chart.tsx";
import { Section, Table } from "./marks.tsx";
import { addressOf, type BrowsePage, type PageContext } from "./page.ts";

const TITLE = "Opportunities by month";
export const MONTHS_PATH = "/sources/months";
/** Records whose history a page reads within a few seconds. */
const RECORDS_MAX = 200_000;

/** `department` is a code, "" for others; undefined for all of them together. `month` is the month for comparing departments. */
type ShownMonths = { months: Months; department: string | undefined; month: string };

export async function monthsPage({ catalog, index, now, query }: PageContext): Promise<BrowsePage> {
  const records = (await sourceStatuses(catalog)).reduce((sum, each) => sum + each.records, 0);
  const frame = { title: TITLE, section: "sources" } as const;
  if (records > RECORDS_MAX) return { ...frame, body: <TooMany records={records} /> };
  const months = await countMonths(catalog, index, now);
  const asked = query.get("department") === "other" ? "" : (query.get("department") ?? undefined);
  const department = asked !== undefined && months.departments.has(asked) ? asked : undefined;
  const month = months.names.find((name) => name === query.get("month")) ?? months.names.at(-1) ?? "";
  return { ...frame, body: <MonthsBody shown={{ months, department, month }} /> };
}

function TooMany({ records }: { records: number }) {
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="empty">
        There are {withCommas(records)} records, and a page reads the history of at most {withCommas(RECORDS_MAX)}. An SQLite or Parquet
        export has them all.
      </p>
    </>
  );
}

function MonthsBody({ shown }: { shown: ShownMonths }) {
  const { months, department, month } = shown;
  const counts = (department === undefined ? months.all : months.departments.get(department)) ?? [];
  const unknown = counts.filter(({ open }) => open === null).length;
  return (
    <>
      <h1>{TITLE}</h1>
      <p class="lead">
        How many opportunities were posted, how many were open at the end, and how many closed, as the imports saw it. An opportunity of
        several sources counts once. Months are those of US Eastern time.
      </p>
      {unknown > 0 && <p>What was open before {monthInWords(months.names[unknown] ?? "")} is not known: nothing had been imported.</p>}
      <Section class="months" id="by-month" title={department === undefined ? "All departments" : nameOf(department)}>
        {department !== undefined && (
          <p>
            <a href={monthsAddress({ month }, months)}>All departments</a>
          </p>
        )}
        <div class="month-bars">
          {columns.map(({ name, of, title: says }) => (
            <Bars
              key={name}
              values={counts.map((each) => of(each) ?? 0)}
              names={months.names.map(monthInWords)}
              title={`${name}: ${says}`}
              when="in"
            />
          ))}
        </div>
        <MonthTable shown={shown} counts={counts} />
      </Section>
      <Section class="months" id="by-department" title={`Departments in ${monthInWords(month)}`}>
        <DepartmentsTable shown={shown} />
      </Section>
    </>
  );
}

const columns: readonly { name: string; title: string; of: (counts: MonthCounts) => number | null }[] = [
  { name: "Posted", title: "by day of posting", of: ({ posted }) => posted },
  { name: "Open", title: "at the end of the month, or now", of: ({ open }) => open },
  { name: "Closed", title: "no longer open", of: ({ closed }) => closed },
];

function MonthTable({ shown: { months, department, month }, counts }: { shown: ShownMonths; counts: readonly MonthCounts[] }) {
  const link = (name: string) => (
    <a href={`${monthsAddress({ department, month: name }, months)}#by-department`} aria-current={name === month ? "true" : undefined}>
      {monthInWords(name)}
    </a>
  );
  return <CountsTable first="Month" rows={months.names.map((name, n) => ({ head: link(name), counts: counts[n] })).toReversed()} />;
}

function DepartmentsTable({ shown: { months, month } }: { shown: ShownMonths }) {
  const n = months.names.indexOf(month);
  const rows = [...months.departments]
    .map(([code, counts]) => ({ code, counts: counts[n] }))
    .filter(({ counts }) => counts !== undefined && columns.some(({ of }) => (of(counts) ?? 0) > 0))
    .sort((left, right) => (left.code === "" ? 1 : right.code === "" ? -1 : nameOf(left.code) < nameOf(right.code) ? -1 : 1));
  if (rows.length === 0) return <p class="empty">Nothing was posted, open or closed.</p>;
  const link = (code: string) => <a href={monthsAddress({ department: code, month }, months)}>{nameOf(code)}</a>;
  return <CountsTable first="Department" rows={rows.map(({ code, counts }) => ({ head: link(code), counts }))} />;
}

function CountsTable({ first, rows }: { first: string; rows: readonly { head: Child; counts: MonthCounts | undefined }[] }) {
  const inWords = (count: number | null | undefined) => (count == null ? "unknown" : withCommas(count));
  return (
    <Table
      class="departments"
      names={[first, ...columns.map(({ name }) => name)]}
      rows={rows.map(({ head, counts }) => [head, ...columns.map(({ of }) => inWords(counts && of(counts)))])}
    />
  );
}

function monthsAddress({ department, month }: { department?: string | undefined; month: string }, { names }: Months): string {
  const code = department === "" ? "other" : department;
  return addressOf(MONTHS_PATH, { department: code, month: month === names.at(-1) ? undefined : month });
}

function nameOf(department: string): string {
  return department === "" ? "Others" : (agencyByCode(department)?.name ?? department);
}
