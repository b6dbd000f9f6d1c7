/** @jsxImportSource hono/jsx */
/** The history of an opportunity: what each event changed. */
import type { Change, OpportunityEvent } from "../events/event.ts";
import { valueInWords } from "../events/field-values.ts";
import { changesInWords, fieldLabel } from "../events/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { opportunityAddress } from "./addresses.ts";
import { Difference } from "./difference.tsx";
import { cutText, Fact, SeverityMark } from "./marks.tsx";
import { Exact, Relative } from "./times.tsx";

const SUMMARY_MAX = 300;

const typeNames: Readonly<Record<string, string>> = {
  opportunity_added: "Added",
  opportunity_removed: "No longer published by its source",
  status_changed: "Status changed",
  date_changed: "Dates changed",
  funding_changed: "Funding changed",
  description_changed: "Text changed",
  qanda_updated: "Questions and answers changed",
  attachments_changed: "Attachments changed",
  field_updated: "Other fields changed",
};

export function typeInWords(type: string): string {
  return typeNames[type] ?? type.replaceAll("_", " ");
}

const IN_LINE = 3;

/** An event in a line: "deadline moved from Mar 3, 2026 to Mar 10, 2026 (7 days later)". */
export function changeInShort(event: OpportunityEvent): string {
  const changes = changesInWords(event);
  const more = changes.length > IN_LINE ? `; ${changes.length - IN_LINE} more` : "";
  return cutText(changes.slice(0, IN_LINE).join("; "), SUMMARY_MAX) + more;
}

export function TimelineEntry({ event, now }: { event: OpportunityEvent; now: EpochMs }) {
  const { type, severity, detected_at, changes, summary } = event;
  return (
    <li class={`entry ${severity}`} id={event.id}>
      <h3>
        {typeInWords(type)} <SeverityMark severity={severity} />
      </h3>
      <p class="when">
        <Exact at={detected_at} /> · <Relative at={detected_at} now={now} />
      </p>
      {type !== "opportunity_added" && changes.map((change) => <FieldChange key={change.field} change={change} />)}
      {changes.length === 0 && type !== "opportunity_added" && summary !== null && <p>{cutText(summary, SUMMARY_MAX)}</p>}
    </li>
  );
}

function FieldChange({ change: { field, previous, current } }: { change: Change }) {
  return (
    <div class="field-change">
      <h4>{fieldLabel(field)}</h4>
      {field.startsWith("relationships.") ? (
        <dl class="sides">
          <LinkSide name="Before" id={previous} />
          <LinkSide name="After" id={current} />
        </dl>
      ) : (
        <Difference before={valueInWords(field, previous)} after={valueInWords(field, current)} />
      )}
    </div>
  );
}

function LinkSide({ name, id }: { name: string; id: unknown }) {
  return (
    <Fact name={name}>{typeof id === "string" ? <a href={opportunityAddress(id)}>this record</a> : <span class="quiet">none</span>}</Fact>
  );
}
