/** @jsxImportSource hono/jsx */
/** Other uses of a search: files, a calendar, a feed, and a watch. */
import { type FieldName, fieldNames } from "../filter/filter.ts";
import { addressOf, DESCRIPTION_PATH, type UrlQuery } from "./page.ts";
import type { SearchForm } from "./search-form.tsx";

const ROWS = "1000";

type TakeAlongProps = { form: SearchForm; of: "find" | "changes"; own?: UrlQuery };

export function TakeAlong({ form: { given }, of, own = {} }: TakeAlongProps) {
  const filters = Object.fromEntries(Object.entries(given).filter(([name]) => name === "all_sources" || isFilter(name)));
  const changes = { ...filters, type: own.type, at_least: own.at_least };
  const rows = (format: string) => addressOf(`/${of}.${format}`, { ...filters, ...own, limit: ROWS });
  return (
    <details class="take">
      <summary>Take this search along</summary>
      <ul>
        <li>
          <a href={rows("csv")}>CSV</a> or <a href={rows("json")}>JSON</a> of {of === "find" ? "the results" : "these changes"} (
          <a href={DESCRIPTION_PATH}>described for programs</a>)
        </li>
        <li>
          <a href={addressOf("/find.ics", filters)}>Calendar</a> of its deadlines, and{" "}
          <a href={addressOf("/changes.atom", changes)}>Atom feed</a> of what changes:{" "}
          <a href={addressOf("/subscribe", changes)}>addresses to subscribe to</a>
        </li>
        <li>
          A message when something changes: <code>{watchCommand(given)}</code>
        </li>
      </ul>
    </details>
  );
}

function watchCommand(given: Readonly<Record<string, string>>): string {
  const filters = Object.entries(given)
    .filter(([name]) => isFilter(name))
    .map(([name, text]) => `--${name.replaceAll("_", "-")} ${shellWord(text)}`);
  const allSources = given.all_sources === undefined ? [] : ["--all-sources"];
  return ["fundfeed watch add", nameFor(given.words), ...filters, ...allSources, "--to stdout"].join(" ");
}

function isFilter(name: string): name is FieldName {
  return fieldNames.some((each) => each === name);
}

function nameFor(words = ""): string {
  const name = words
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-|-$/g, "");
  return name === "" ? "my-search" : name;
}

function shellWord(text: string): string {
  return /^[\w.,:+/%@-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
