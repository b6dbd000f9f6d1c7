/** @jsxImportSource hono/jsx */
/** The history of an opportunity: what each event changed. */
import { diffArrays } from "diff";
import type { Change, OpportunityEvent } from "../events/event.ts";
import { valueInWords } from "../events/field-values.ts";
import { changesInWords, fieldLabel } from "../events/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { cutText, Exact, Fact, Relative, SeverityMark } from "./marks.tsx";
import { opportunityAddress } from "./page.ts";

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

/** Longer texts are compared as a whole: their difference would take too long, and nobody reads it. */
const COMPARED_MAX = 60_000;
/** A comparison that finds more edits is given up: its work grows with their square. No time is measured, so a page is the same each time. */
const LIMITS = { maxEditLength: 800, comparator: (one: string, other: string) => one.trim() === other.trim() };
/** Texts up to this length are shown twice, before and after. Longer ones are shown once, with equal parts shortened. */
const SHORT = 240;
const CONTEXT = 120;
const PIECE_MAX = 4000;

type Part = { equal: string } | { removed: string; added: string };

/** Both texts are plain. An empty one means that nothing was stated. */
export function Difference({ before, after }: { before: string; after: string }) {
  if (before === after) return <p class="difference quiet">Both read the same: only markup, spacing, order or seconds changed.</p>;
  const parts = partsOf(before, after);
  if (parts === undefined || Math.max(before.length, after.length) <= SHORT) {
    return (
      <dl class="sides">
        <Side name="Before" text={before} parts={parts} side="removed" />
        <Side name="After" text={after} parts={parts} side="added" />
      </dl>
    );
  }
  return (
    <p class="difference">
      {parts.map((part, n) => ("equal" in part ? <Equal {...part} n={n} of={parts.length} /> : <Changed {...part} />))}
    </p>
  );
}

function Side({ name, text, parts, side }: { name: string; text: string; parts: readonly Part[] | undefined; side: "removed" | "added" }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {text === "" && <span class="quiet">not stated</span>}
        {parts === undefined && cutText(text, PIECE_MAX)}
        {parts?.map((part) => ("equal" in part ? part.equal : <Changed removed="" added="" {...{ [side]: part[side] }} />))}
      </dd>
    </div>
  );
}

function Changed({ removed, added }: { removed: string; added: string }) {
  return (
    <>
      {removed !== "" && <del>{cutText(removed.trim(), PIECE_MAX)}</del>}
      {removed !== "" && " "}
      {added !== "" && <ins>{cutText(added.trim(), PIECE_MAX)}</ins>}
      {added !== "" && " "}
    </>
  );
}

function Equal({ equal, n, of }: { equal: string; n: number; of: number }) {
  const [head, tail] = [n === 0 ? "" : equal.slice(0, CONTEXT), n === of - 1 ? "" : equal.slice(-CONTEXT)];
  if (head.length + tail.length + CONTEXT >= equal.length) return <>{equal}</>;
  return (
    <>
      {head.toWellFormed()}
      <span class="quiet"> […] </span>
      {tail.toWellFormed()}
    </>
  );
}

function partsOf(before: string, after: string): Part[] | undefined {
  if (before === "" || after === "" || Math.max(before.length, after.length) > COMPARED_MAX) return undefined;
  const parts: Part[] = [];
  for (const { value, added, removed } of diffArrays(tokensOf(before), tokensOf(after), LIMITS) ?? []) {
    const text = value.join("");
    const last = parts.at(-1);
    if (!added && !removed) parts.push({ equal: text });
    else if (last === undefined || "equal" in last) parts.push({ removed: removed ? text : "", added: added ? text : "" });
    else parts[parts.length - 1] = { removed: last.removed + (removed ? text : ""), added: last.added + (added ? text : "") };
  }
  return parts.length === 0 ? undefined : parts;
}

/** Words with the space behind them, so that changes of neighbors are one change. */
function tokensOf(text: string): string[] {
  return text.match(/\S+\s*|^\s+/g) ?? [];
}
