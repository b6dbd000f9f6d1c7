/** `fundfeed explain`: explain an event: the record before and after. */
import { Failure } from "../../../db/reason.ts";
import { type Explanation, explain, isOfClock } from "../../changes/explain.ts";
import type { FileDigest } from "../../import/import-log.ts";
import { formatInstant } from "../../text/instant.ts";
import { oneLine } from "../../text/terminal-text.ts";
import type { CliCommand } from "../command.ts";
import { withInstants } from "../output.ts";

export function explainCommand(command: CliCommand): CliCommand {
  return command.argument("<event-id>", "id of the event, as the API and `changes --json` show it").action(async (id: string) => {
    const explanation = await command.withCatalog((db) => explain(db, id));
    if (explanation === undefined)
      throw new Failure(`Cannot explain event ${id}: there is no event with that id; fundfeed changes --json shows the ids`);
    const { import: brought } = explanation;
    const shown = brought && withInstants({ ...brought, files: JSON.parse(brought.files) as FileDigest[] });
    command.print({ ...explanation, import: shown }, inSentences(explanation));
  });
}

function inSentences({ event, after, rules, origin, import: brought }: Explanation): string {
  const names = (JSON.parse(brought?.files ?? "[]") as FileDigest[]).map(({ name }) => name);
  const cause = isOfClock(event) ? "a status turn: a date has passed" : "fundfeed redact";
  const lines = [
    `${event.type} (${event.severity}) of ${after.source.code} ${after.source.opportunity_id}: ${after.title}`,
    `detected  ${event.detected_at}`,
    `by        ${brought === null ? cause : `import ${brought.id}, ${brought.format}, ${names.join(" ")}, ${formatInstant(brought.started_at)}`}`,
  ];
  if (origin === "imported") lines.push("rule      none: type and severity come from the imported history");
  else if (rules.length === 0) lines.push("rule      none of the present rules: they give these changes another severity");
  for (const rule of rules) lines.push(`rule      ${rule.field ?? "the record"}: ${rule.when} → ${rule.type}, ${rule.severity}`);
  for (const { field, previous, current } of event.changes) {
    lines.push("", field, `  before  ${JSON.stringify(previous)}`, `  after   ${JSON.stringify(current)}`);
  }
  lines.push("", "Use --json to see the whole record before and after");
  return lines.map(oneLine).join("\n");
}
