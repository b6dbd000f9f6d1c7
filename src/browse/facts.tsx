/** @jsxImportSource hono/jsx */
/** The facts of an opportunity as lists with links. */
import type { FactGroup, FactValue, OpportunityFact } from "../facts/facts.ts";
import { cutText, ExternalLink, Fact, MoreItems } from "./marks.tsx";
import { addressOf, opportunityAddress } from "./page.ts";

const [FACT_MAX, VALUES_MAX] = [3000, 100];
const SOUGHT_MAX = 200;

const titles: Readonly<Partial<Record<FactGroup, string>>> = {
  "offered by": "Who offers it",
  offers: "What it offers",
  won: "Who won",
  "won before": "Who won before",
  for: "For whom",
  record: "Record",
};

type ListsProps = { label: string; facts: readonly OpportunityFact[]; groups: readonly FactGroup[]; asOf: string | undefined };

/** The facts of these groups, each group under its title. Links to records have `asOf`, the instant in the page's address. */
export function FactLists({ label, facts, groups, asOf }: ListsProps) {
  const lists = groups
    .map((group) => ({ title: titles[group] ?? group, ofGroup: facts.filter((fact) => fact.group === group) }))
    .filter(({ ofGroup }) => ofGroup.length > 0);
  if (lists.length === 0) return null;
  return (
    <aside aria-label={label}>
      {lists.map(({ title, ofGroup }) => (
        <section key={title} class="fact-list">
          <h2>{title}</h2>
          <dl>
            {ofGroup.map((fact) => (
              <FactRows key={fact.id} fact={fact} asOf={asOf} />
            ))}
          </dl>
        </section>
      ))}
    </aside>
  );
}

function FactRows({ fact: { label, values, isEach }, asOf }: { fact: OpportunityFact; asOf: string | undefined }) {
  const shown = values.slice(0, VALUES_MAX).map((value) => <Value value={value} asOf={asOf} />);
  if (isEach || values.length === 1) {
    return (
      <>
        {shown.map((value) => (
          <Fact name={label}>{value}</Fact>
        ))}
      </>
    );
  }
  return (
    <Fact name={label}>
      <ul class="codes">
        {shown.map((value) => (
          <li>{value}</li>
        ))}
        <MoreItems count={values.length - shown.length} />
      </ul>
    </Fact>
  );
}

function Value({ value: { text, filter, record, url }, asOf }: { value: FactValue; asOf: string | undefined }) {
  const shown = cutText(text, FACT_MAX);
  if (filter !== undefined) return <a href={addressOf("/", { [filter.name]: filter.value.slice(0, SOUGHT_MAX) })}>{shown}</a>;
  if (record !== undefined) return <a href={opportunityAddress(record, asOf)}>{shown}</a>;
  return <ExternalLink url={url}>{shown}</ExternalLink>;
}
