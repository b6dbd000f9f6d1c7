/** @jsxImportSource hono/jsx */
/** Opportunities as a list of results. */
import type { CatalogDb } from "../../db/engine.ts";
import { insignificant, type OpportunityEvent } from "../events/event.ts";
import { listOpportunityEvents } from "../events/list.ts";
import { countErased, readPastById } from "../past/as-of.ts";
import { numberOf } from "../search/number.ts";
import type { SearchResult } from "../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import { missingInWords, type Understood } from "../search/understood.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { opportunityAddress } from "./addresses.ts";
import { changeInShort } from "./history.tsx";
import { AlsoAtLinks, awardsInWords, cutText, SeverityMark, StatusBadge } from "./marks.tsx";
import type { PageContext } from "./page.ts";
import { Due, Relative } from "./times.tsx";

/** Characters of a title. */
export const TITLE_MAX = 600;

/** A result with its last significant change; undefined if that was its addition, or a turn of the clock. */
export type ShownResult = SearchResult & { lastChange: OpportunityEvent | undefined };

/** The results with their last changes until `now`, and how many of them lack contacts that were erased. */
export async function withLastChanges(
  { catalog, now, past }: Pick<PageContext, "catalog" | "now" | "past">,
  results: readonly SearchResult[],
): Promise<{ results: ShownResult[]; erased: number }> {
  const ids = results.map(({ opportunity }) => opportunity.id);
  if (past === undefined) {
    const changes = await Promise.all(ids.map((id) => lastChangeOf(catalog, id)));
    return { results: results.map((result, n) => ({ ...result, lastChange: changes[n] })), erased: 0 };
  }
  const known = await readPastById(past.present, ids, now);
  const shown = results.map((result) => ({ ...result, lastChange: lastChangeAmong(known.get(result.opportunity.id)?.history ?? []) }));
  return { results: shown, erased: countErased(known.values()) };
}

async function lastChangeOf(catalog: CatalogDb, id: string): Promise<OpportunityEvent | undefined> {
  const page = await listOpportunityEvents({ db: catalog }, id, { include_insignificant: false }, 1, null);
  const [document] = page?.documents ?? [];
  return document && worthTelling(parseStored<OpportunityEvent>(document));
}

/** The same as `lastChangeOf`, from a whole history. */
function lastChangeAmong(history: readonly OpportunityEvent[]): OpportunityEvent | undefined {
  const significant = history.filter(({ severity }) => !insignificant.some((each) => each === severity));
  const last = significant.toSorted((one, other) => (one.detected_at + one.id < other.detected_at + other.id ? -1 : 1)).at(-1);
  return last && worthTelling(last);
}

function worthTelling(event: OpportunityEvent): OpportunityEvent | undefined {
  const isTurn = event.type === "status_changed" && event.severity === "informational"; // The badge shows it. (E-55)
  return event.type === "opportunity_added" || isTurn ? undefined : event;
}

type ResultsProps = { results: readonly ShownResult[]; understood?: Understood | null; now: EpochMs; asOf?: string | undefined };

/** The results in their order. `understood` has the words that they were searched for; `asOf` is the instant of the pages that links lead to. */
export function Results({ results, understood = null, now, asOf }: ResultsProps) {
  return (
    <ol class="results">
      {results.map((result) => (
        <ResultItem key={result.opportunity.id} result={result} understood={understood} now={now} asOf={asOf} />
      ))}
    </ol>
  );
}

type ItemProps = { result: ShownResult; understood: Understood | null; now: EpochMs; asOf: string | undefined };

function ResultItem({ result: { opportunity, twins, snippet, missing, lastChange }, understood, now, asOf }: ItemProps) {
  const lacks = understood === null ? null : missingInWords(missing, understood);
  const { id, title, status, organization, funding, source } = opportunity;
  const facts = [numberOf(opportunity), organization.sub_agency ?? organization.agency, awardsInWords(funding), source.name];
  return (
    <li class="result">
      <h3>
        <a href={opportunityAddress(id, asOf)}>
          <bdi>{cutText(title, TITLE_MAX)}</bdi>
        </a>
      </h3>
      <p class="line">
        <StatusBadge status={status} /> <Due opportunity={opportunity} now={now} />
      </p>
      <p class="facts">
        {facts
          .filter((fact) => fact !== null && fact !== undefined)
          .map((fact) => (
            <span key={fact}>{cutText(fact, 200)}</span>
          ))}
        <AlsoAtLinks twins={twins} shown={status} asOf={asOf} />
      </p>
      {lacks !== null && <p class="lacks">{lacks}</p>}
      {snippet !== null && <Snippet text={snippet} />}
      {lastChange !== undefined && (
        <p class="change">
          <SeverityMark severity={lastChange.severity} /> <Relative at={lastChange.detected_at} now={now} />: {changeInShort(lastChange)}
        </p>
      )}
    </li>
  );
}

/** The words around a match, with the match marked. */
function Snippet({ text }: { text: string }) {
  return (
    <p class="snippet">
      {text.split(MATCH_BEGIN).map((part, n) => {
        const [matched = "", rest] = n === 0 ? ["", part] : part.split(MATCH_END);
        return (
          <>
            {matched !== "" && <mark>{matched}</mark>}
            {rest}
          </>
        );
      })}
    </p>
  );
}
