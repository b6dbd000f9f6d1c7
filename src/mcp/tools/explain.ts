/** The tool `explain`: why an event exists. */
import { basename } from "node:path";
import { Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import { type Explanation, explain, isOfClock } from "../../changes/explain.ts";
import { eventTypes, type OpportunityEvent, severities } from "../../events/event.ts";
import { numberOf, type WholeOpportunity } from "../../opportunities/opportunity.ts";
import { readOpportunities } from "../../opportunities/records.ts";
import { readDuplicates } from "../../opportunities/related.ts";
import { type Cut, jsonBytes } from "../../text/cut.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { cursorArgument, requiredText } from "../arguments.ts";
import { DATA_BYTES_MAX } from "../results.ts";
import { EventRow, eventRowOf, jsonTextOf, OpportunityRow, ROW, rowOf } from "../rows.ts";
import { knownOrQuoted, quotedNumber, upstreamTexts } from "../upstream-text.ts";
import { CutMember, LongText, longResult, type WholeResult } from "./long-result.ts";
import { type ToolCall, tool } from "./tool.ts";

const EXPLAINED_VALUE_MAX = [4000, 1000];

const rule = object({ field: nullable(Type.String()), type: Type.String(), severity: Type.String(), when: Type.String() });
const brought = object({
  id: Type.Integer(),
  format: Type.String(),
  files: Type.Array(Type.String()),
  started_at: Type.String({ format: "date-time" }),
  as_of: nullable(Type.String({ format: "date-time" })),
});
export const explainTool = tool({
  name: "explain",
  title: "Explain one event",
  action: "explain",
  description:
    "Says why an event has its type and severity: the rule for each changed field, the values before and after, and the import that brought them. Takes an `event_id` from history or what_changed.",
  arguments: { event_id: requiredText("Id of the event."), cursor: cursorArgument },
  data: {
    event: nullable(EventRow),
    opportunity: nullable(OpportunityRow, ROW),
    because: Type.Array(Type.String(), { description: "The explanation in sentences." }),
    rules: Type.Array(rule, { description: "`field` is null for a rule about the whole opportunity." }),
    origin: Type.Union([Type.Literal("detected"), Type.Literal("imported"), Type.Null()]),
    import: nullable(brought, "Null if no import brought it, as when a date passed."),
    cut: Type.Array(CutMember),
    piece: nullable(LongText),
  },
  run: async ({ event_id = "", cursor }, call) => {
    const reason = await readExplanation(event_id, call);
    if (reason === undefined)
      throw new Failure(
        `Cannot explain: no event has the id ${quoted(event_id)}. Ids of events are in the results of history and what_changed`,
      );
    const request = { tool: "explain", event_id };
    const document = { event: reason.event };
    const version = reason.event.detected_at;
    return longResult({ call, request, filters: { event_id }, document, version, cursor }, NOTHING, () => explained(reason, call.now));
  },
});

type ToolExplanation = Pick<Explanation, "event" | "rules" | "origin"> & {
  opportunity: WholeOpportunity;
  duplicates: readonly WholeOpportunity[];
  import: { id: number; format: string; files: string[]; started_at: string; as_of: string | null } | null;
};

async function readExplanation(eventId: string, { catalog, now }: ToolCall): Promise<ToolExplanation | undefined> {
  const explanation = await explain(catalog, eventId);
  if (explanation === undefined) return undefined;
  const { event, rules, origin, import: brought } = explanation;
  const [opportunity] = await readOpportunities(catalog, [event.opportunity_id], now);
  if (opportunity === undefined) return undefined;
  const duplicates = (await readDuplicates(catalog, [opportunity.id], now)).get(opportunity.id) ?? [];
  return { event, opportunity, duplicates, rules, origin, import: brought && importOf(brought) };
}

function importOf({ id, format, files, started_at, as_of }: NonNullable<Explanation["import"]>): ToolExplanation["import"] {
  const names = (JSON.parse(files) as { name: string }[]).map(({ name }) => basename(name)); // Directories of this machine are nobody's business.
  return { id, format, files: names, started_at: formatInstant(started_at), as_of: as_of === null ? null : formatInstant(as_of) };
}

const NOTHING = { event: null, opportunity: null, because: [], rules: [], origin: null, import: null };

function explained(reason: ToolExplanation, now: EpochMs): WholeResult {
  const { event, opportunity, duplicates, rules, origin, import: brought } = reason;
  const row =
    EXPLAINED_VALUE_MAX.map((valueMax) => eventRowOf(event, valueMax)).find((each) => jsonBytes(each) <= DATA_BYTES_MAX) ??
    eventRowOf(event);
  const because = reasonInSentences(reason);
  const lines = [
    `${knownOrQuoted(event.severity, severities)} ${knownOrQuoted(event.type, eventTypes)} of ${quoted(opportunity.title)}, ${quotedNumber(numberOf(opportunity))}: ${quoted(row.in_words)}`,
    ...because,
  ];
  const upstream = [...upstreamTexts(EventRow, "event"), ...upstreamTexts(OpportunityRow, "opportunity")];
  const data = {
    event: row,
    opportunity: rowOf(opportunity, now, duplicates),
    because,
    rules: rules.slice(0, row.changes.length + 1),
    origin,
    import: brought,
  };
  return { data, cuts: cutsOf(event, row), lines, upstream };
}

function cutsOf({ changes }: OpportunityEvent, { changes: shown }: { changes: OpportunityEvent["changes"] }): Cut[] {
  const values = shown.flatMap(({ previous, current }, n) =>
    Object.entries({ previous, current }).flatMap(([name, value]): Cut[] => {
      const text = jsonTextOf(changes[n]?.[name as "previous" | "current"]);
      const length = jsonTextOf(value).length;
      return text.length <= length
        ? []
        : [{ path: ["event", "changes", n, name], unit: "characters", shown: length - 1, length: text.length }];
    }),
  );
  const all: Cut = { path: ["event", "changes"], unit: "items", shown: shown.length, length: changes.length };
  return shown.length < changes.length ? [...values, all] : values;
}

function reasonInSentences(reason: ToolExplanation): string[] {
  const { event, rules, import: brought } = reason;
  const ofRules = rules
    .slice(0, RULES_IN_WORDS)
    .map(({ field, type, severity, when }) => `${field ?? "The opportunity"}: ${when}. That makes it ${type}, ${severity}.`);
  if (reason.origin === "imported") ofRules.push("Type and severity come from an imported history: another system chose them.");
  else if (rules.length === 0) ofRules.push("None of the present rules gave it its severity: they give these changes another one.");
  return [...ofRules, causeInWords(event, brought)];
}

const RULES_IN_WORDS = 20;

function causeInWords(event: OpportunityEvent, brought: ToolExplanation["import"]): string {
  if (brought !== null) {
    const history = brought.as_of === null ? "" : `, as history of ${brought.as_of}`;
    return `Import ${brought.id} (${brought.format}, ${brought.files.join(", ")}), started ${brought.started_at}${history}, brought it.`;
  }
  return isOfClock(event) ? "No import brought it: a date has passed." : "No import brought it: contacts were erased.";
}
