/** @jsxImportSource hono/jsx */
/** Small signs that several pages show: severity, status, amounts, facts. */
import type { Child } from "hono/jsx";
import { type Severity, severities } from "../events/event.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { statusThere } from "../opportunities/related.ts";
import { statusInWords } from "../opportunities/status.ts";
import { counted, withCommas } from "../text/counted.ts";
import { opportunityAddress } from "./addresses.ts";

/** Severities by shape as well as by color: the shape fits a box of 16. */
const shapes: Readonly<Record<Severity, string>> = {
  critical: "M8 1 15 8 8 15 1 8z",
  material: "M8 2 15 14 1 14z",
  informational: "M8 3a5 5 0 1 0 .01 0z",
  cosmetic: "M8 5a3 3 0 1 0 .01 0z",
  noise: "M3 7h10v2H3z",
  unknown: "M3 3h10v10H3z",
};

/** The sign of a severity, with its name. */
export function SeverityMark({ severity }: { severity: string }) {
  const known = severities.find((each) => each === severity) ?? "unknown";
  return (
    <span class={`severity ${known}`}>
      <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d={shapes[known]} />
      </svg>
      {known}
    </span>
  );
}

export function StatusBadge({ status }: { status: string }) {
  const kind = { open: "open", closing_soon: "soon", forecast: "coming", pre_release: "coming" }[status] ?? "over";
  return <span class={`status ${kind}`}>{statusInWords(status)}</span>;
}

/** "also at NSF, SBIR.gov (closed there)" with links, next to a record whose status is `shown`; nothing without linked records. */
export function AlsoAtLinks({ duplicates, shown }: { duplicates: readonly Opportunity[]; shown: string }) {
  if (duplicates.length === 0) return null;
  return (
    <span>
      also at{" "}
      {duplicates.map(({ id, source, status }, n) => (
        <>
          {n > 0 && ", "}
          <a href={opportunityAddress(id)}>{cutText(source.name, 100)}</a>
          {statusThere(status, shown)}
        </>
      ))}
    </span>
  );
}

/** How many records were left out because another one of their opportunity is shown, and where each is; nothing if none was. */
export function DuplicatesLeftOut({ duplicates, address }: { duplicates: number; address: string }) {
  if (duplicates === 0) return null;
  return (
    <p class="understood">
      {counted(duplicates, "more record")} of the same opportunities. <a href={address}>Show each</a>
    </p>
  );
}

/** A name and what it has, in a list of facts. */
export function Fact({ name, children }: { name: string; children: Child }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The head of a table, with the names of its columns. */
export function TableHead({ names }: { names: readonly Child[] }) {
  return (
    <thead>
      <tr>
        {names.map((name, n) => (
          <th scope="col" key={n}>
            {name}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Cuts a text that is too long for a page, and marks the cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).toWellFormed()} … (${withCommas(text.length - max)} more characters)`;
}
