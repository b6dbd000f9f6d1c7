/** @jsxImportSource hono/jsx */
/** Opportunities as a list of results. */
import type { Child } from "hono/jsx";
import type { CatalogDb } from "../../db/engine.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { listOpportunityEvents } from "../events/list.ts";
import { applicantsInShort } from "../filter/applicants.ts";
import { dueOf } from "../opportunities/due.ts";
import { awardsInWords } from "../opportunities/funding.ts";
import { numberOf } from "../opportunities/opportunity.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { firstPartial, type SearchResult } from "../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import { missingInWords, type Understood } from "../search/understood.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { changeInShort } from "./history.tsx";
import { DueLine, FactLine, Relative, SeverityMark, StatusBadge, TitleLink } from "./marks.tsx";

export const TITLE_MAX = 600;

/** A result with its last significant change; undefined if that was its addition, or only time passing. */
export type ShownResult = SearchResult & { lastChange: OpportunityEvent | undefined };

export async function withLastChanges(catalog: CatalogDb, results: readonly SearchResult[]): Promise<ShownResult[]> {
  const changes = await Promise.all(results.map(({ opportunity }) => lastChangeOf(catalog, opportunity.id)));
  return results.map((result, n) => ({ ...result, lastChange: changes[n] }));
}

async function lastChangeOf(catalog: CatalogDb, id: string): Promise<OpportunityEvent | undefined> {
  const page = await listOpportunityEvents({ db: catalog }, id, { include_insignificant: false }, 1, null);
  const [document] = page?.documents ?? [];
  if (document === undefined) return undefined;
  const event = parseStored<OpportunityEvent>(document);
  const isTurn = event.type === "status_changed" && event.severity === "informational"; // The badge shows it. (E-55)
  return event.type === "opportunity_added" || isTurn ? undefined : event;
}

type ResultsProps = {
  results: readonly ShownResult[];
  understood?: Understood | null;
  now: EpochMs;
  /** Precedes the partial matches. */
  line?: string;
  children?: (id: string) => Child;
};

/** The results in order; nothing if there are none. */
export function Results({ results, understood = null, now, line = "", children }: ResultsProps) {
  const first = firstPartial(results) ?? results.length;
  const listed = (some: readonly ShownResult[], start: number) => (
    <ol class="results" start={start}>
      {some.map((result) => (
        <ResultItem key={result.opportunity.id} result={result} understood={understood} now={now}>
          {children?.(result.opportunity.id)}
        </ResultItem>
      ))}
    </ol>
  );
  return (
    <>
      {first > 0 && listed(results.slice(0, first), 1)}
      {first < results.length && (
        <>
          <h3>{line}</h3>
          {listed(results.slice(first), first + 1)}
        </>
      )}
    </>
  );
}

type ItemProps = { result: ShownResult; understood: Understood | null; now: EpochMs; children?: Child };

function ResultItem({ result, understood, now, children }: ItemProps) {
  const { opportunity, duplicates, snippet, missing, named, isFar, lastChange } = result;
  const lacks = understood === null ? null : missingInWords({ missing, named, isFar }, understood);
  const { id, title, status, organization, funding, source } = opportunity;
  const applicants = applicantsInShort(opportunity);
  const openTo = applicants === null ? null : `open to ${applicants}`;
  const facts = [numberOf(opportunity), organization.sub_agency ?? organization.agency, awardsInWords(funding), openTo, source.name];
  return (
    <li class={unendedStatuses.includes(status) ? "result" : "result over"}>
      <h3>
        <TitleLink id={id} title={title} max={TITLE_MAX} />
      </h3>
      <p class="line">
        <StatusBadge status={status} /> <DueLine due={dueOf(opportunity, now, duplicates)} now={now} />
      </p>
      <FactLine facts={facts} duplicates={duplicates} status={status} />
      {lacks !== null && <p class="lacks">{lacks}</p>}
      {snippet !== null && !title.includes(snippet.replaceAll(MATCH_BEGIN, "").replaceAll(MATCH_END, "")) && <Snippet text={snippet} />}
      {lastChange !== undefined && (
        <p class="change">
          <SeverityMark severity={lastChange.severity} /> <Relative at={lastChange.detected_at} now={now} />: {changeInShort(lastChange)}
        </p>
      )}
      {children}
    </li>
  );
}

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
