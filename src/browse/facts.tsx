/** @jsxImportSource hono/jsx */
/** The facts of an opportunity as lists with links. */
import type { FactGroup, FactValue, OpportunityFact } from "../facts/facts.ts";
import { webAddress } from "../text/web-address.ts";
import { addressOf, opportunityAddress } from "./addresses.ts";
import { cutText, Fact } from "./marks.tsx";

/** Characters of a fact, and values of one. */
const [FACT_MAX, VALUES_MAX] = [3000, 100];
/** Most characters of a value that a fact's link searches for. */
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

/**
 * The facts of these groups, each group under its title; nothing if there are none. `asOf` is the instant in the page's address; links to
 * records have it, too.
 */
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
  const shown = values.slice(0, VALUES_MAX);
  const [first] = shown;
  if (isEach) {
    return (
      <>
        {shown.map((value, n) => (
          <Fact key={n} name={label}>
            <Value value={value} asOf={asOf} />
          </Fact>
        ))}
      </>
    );
  }
  return (
    <Fact name={label}>
      {values.length === 1 && first !== undefined ? (
        <Value value={first} asOf={asOf} />
      ) : (
        <ul class="codes">
          {shown.map((value) => (
            <li key={value.text}>
              <Value value={value} asOf={asOf} />
            </li>
          ))}
          {values.length > shown.length && <li class="quiet">{values.length - shown.length} more</li>}
        </ul>
      )}
    </Fact>
  );
}

/** A value with its link: to a search, a record, or a web address. */
function Value({ value: { text, filter, record, url }, asOf }: { value: FactValue; asOf: string | undefined }) {
  const shown = cutText(text, FACT_MAX);
  const address = webAddress(url ?? null);
  if (filter !== undefined) return <a href={addressOf("/", { [filter.name]: filter.value.slice(0, SOUGHT_MAX) })}>{shown}</a>;
  if (record !== undefined) return <a href={opportunityAddress(record, asOf)}>{shown}</a>;
  if (address === undefined) return <>{shown}</>;
  return (
    <a href={address} rel="noreferrer external">
      {shown}
    </a>
  );
}
