/** The change feed as Atom (RFC 4287). The same entries always give the same document. */
import type { CatalogDb } from "../../db/engine.ts";
import { type FeedEntry, type FeedFilter, readWindow } from "../events/feed.ts";
import { entryInWords } from "../events/in-words.ts";
import { uuid5 } from "../opportunities/identity.ts";
import { numberOf } from "../opportunities/opportunity.ts";
import { catalogIdentity } from "../opportunities/read-model.ts";
import { capitalized } from "../text/in-words.ts";
import { oneLine } from "../text/terminal-text.ts";
import { webAddress } from "../text/web-address.ts";
import { type Printer, standingOf } from "./printers.ts";

/** The feed of the chosen changes at `url`; `filter` names sources as given. Its id depends on catalog and choice, not on the period. */
export async function changesAtomPrinter(
  db: CatalogDb,
  { filter, types, atLeast }: FeedFilter,
  url: string | undefined,
): Promise<Required<Omit<Printer, "begin">>> {
  const subtitle = [
    `severity: ${atLeast} or more`,
    ...(types === undefined ? [] : [`type: ${types.join(", ")}`]),
    ...Object.entries(filter).map(([name, value]) => `${name.replaceAll("_", " ")}: ${[value].flat().join(", ")}`),
  ].join("; ");
  const { entries } = await readWindow(db, null, { filter: {} }, 0, 1, "newest");
  const id = uuid5(`feed\n${await catalogIdentity(db)}\n${subtitle}`);
  const newest = entries[0]?.event.detected_at ?? "1970-01-01T00:00:00Z";
  const all: FeedEntry[] = [];
  return {
    entries: (batch) => {
      all.push(...batch);
      return "";
    },
    end: () => atomDocument(id, subtitle, all[0]?.event.detected_at ?? newest, url, all),
  };
}

/** `updated` is RFC 3339: when the feed last changed. `url` is where it is published, if that is known. */
function atomDocument(id: string, subtitle: string, updated: string, url: string | undefined, entries: readonly FeedEntry[]): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
  <id>urn:uuid:${xml(id)}</id>
  <title>Changes of US federal funding opportunities</title>
  <subtitle>${xml(subtitle)}</subtitle>
  <updated>${xml(updated)}</updated>
  <author><name>fundfeed</name></author>
${url === undefined ? "" : `  <link rel="self" type="application/atom+xml" href="${xml(url)}"/>\n`}${entries.map(atomEntry).join("")}</feed>
`;
}

function atomEntry(entry: FeedEntry): string {
  const { event, opportunity } = entry;
  const { title, source, organization } = opportunity;
  const changes = entryInWords(entry);
  const [first = event.type] = changes;
  const more = changes.length > 1 ? `, and ${changes.length - 1} more` : "";
  const number = numberOf(opportunity);
  const facts = [...(number === null ? [] : [number]), ...standingOf(entry)].join(", ");
  const url = webAddress(source.url);
  const heading = url === undefined ? Bun.escapeHTML(title) : `<a href="${Bun.escapeHTML(url)}">${Bun.escapeHTML(title)}</a>`;
  const items = changes.map((words) => `<li>${Bun.escapeHTML(words)}</li>`);
  return `  <entry>
    <id>urn:uuid:${xml(event.id)}</id>
    <title>${xml(`${capitalized(first)}${more}: ${title}`)}</title>
    <updated>${xml(event.detected_at)}</updated>
    <author><name>${xml(organization.agency ?? source.name)}</name></author>
    <category term="${xml(event.severity)}" label="Severity: ${xml(event.severity)}"/>
    <category term="${xml(event.type)}" label="Type: ${xml(event.type.replaceAll("_", " "))}"/>
${url === undefined ? "" : `    <link rel="alternate" href="${xml(url)}"/>\n`}    <summary>${xml(`${capitalized(changes.join("; "))}. ${facts}.`)}</summary>
    <content type="html">${xml(`<p>${heading}</p><ul>${items.join("")}</ul><p>${Bun.escapeHTML(facts)}</p>`)}</content>
  </entry>
`;
}

/** XML has no way to write most control characters. They are shown as \uXXXX, and so are those that reorder text. */
function xml(text: string): string {
  return Bun.escapeHTML(oneLine(text.toWellFormed()).replace(/[\ufffe\uffff]/g, "\ufffd"));
}
