/** Contacts of a grant. Grants.gov has them as a text of any form: all of it is kept, split into one contact for each e-mail address. */
import { decodeEntities, plainText } from "../../../text/plain-text.ts";
import type { Draft } from "../../format.ts";

/** A person's name and number, an address, and a text that may hold all of these, also of several people. */
export type StatedContact = { name: string; email: string; phone: string; text: string };

type Contact = { name: string | null; email: string | null; phone: string | null; role: string };
type Part = { email: string | null; lines: string[] };

const ROLE = "Grantor contact";
/** Real texts have at most five. Without a limit, a hostile one could have more than a record may. */
const PARTS_MAX = 100;

// Anchored and bounded by RFC 5321's lengths: a long word without "@" is searched once. One letter case at the end, because texts glue
// words to addresses: "help@agency.govHours of operation".
const EMAIL = /(?<![^\s@<>()",;:])[^\s@<>()",;:]{1,64}@[^\s@<>()",;:]{1,255}\.(?:[a-z]{2,63}|[A-Z]{2,63}|[A-Z][a-z]{1,62})/g;
const LABELLED_PHONE = /(?:\b|tele)phone(?: number)?[:\s]*([+(]?\d[\d().\s\u2010-\u2015-]{5,18}\d(?:\s*(?:x|ext\.?)\s*\d{1,6})?)/i;
const US_PHONE = /((?:\+?1[-. ])?\(?\b\d{3}\)?[-. \u2010-\u2015]{0,2}\d{3}[-. \u2010-\u2015]?\d{4}\b(?:\s*(?:x|ext\.?)\s*\d{1,6})?)/i;
const PHONE_LINE = /^(?:(?:tele)?phone(?: number)?[:\s]*)?[+(]?\d[\d().\s\u2010-\u2015-]{5,18}(?:(?:x|ext\.?)\s*\d{1,6})?$/i;
const LABEL = new RegExp(
  ["(?:^|[,;:(–-])\\s{0,5}(?:WORDS[:\\s]{0,5})?$", "\\sWORDS\\s{0,5}:\\s{0,5}$"]
    .join("|")
    .replaceAll("WORDS", "(?:e-?mail(?: address)?|(?:tele)?phone(?: number)?)"),
  "i",
);
const LABEL_LENGTH_MAX = 40;

export function contactsOf({ name, email, phone, text }: StatedContact): NonNullable<Draft["contacts"]> {
  const parts = partsOf(linesOf(text));
  for (const [place, [address]] of [...email.matchAll(EMAIL)].entries()) addAddress(parts, address, place);
  const contacts = parts.map(contactOf).filter((contact) => contact.name !== null || contact.email !== null || contact.phone !== null);
  return withPerson(contacts, { name: inOneLine(linesOf(name)), email: null, phone: linesOf(phone).join(" ").trim() || null, role: ROLE });
}

function withPerson(contacts: readonly Contact[], person: Contact): Contact[] {
  const [first, ...others] = contacts;
  if (person.name === null && person.phone === null) return [...contacts];
  if (first === undefined) return [person];
  const isFirst = person.name === null || first.name === null || first.name.includes(person.name);
  if (!isFirst) return [...contacts, person];
  return [{ ...first, name: first.name ?? person.name, phone: person.phone ?? first.phone }, ...others];
}

function linesOf(text: string): string[] {
  return decodeEntities(text)
    .split(/<br\s*\/?>|<\/(?:p|div|li|tr)\s*>|\r?\n/i)
    .map(plainText);
}

/** Each address gets the lines before it, and those after it up to a blank line, or to the lines of the next. */
function partsOf(lines: readonly string[]): Part[] {
  let part: Part = { email: null, lines: [] };
  const parts = [part];
  const byEmail = new Map<string, Part>();
  let waiting: string[] = [];

  function takeAddress(address: string, words: string): void {
    const known = byEmail.get(address.toLowerCase());
    if (known !== undefined || parts.length === PARTS_MAX) part = known ?? part;
    else if (part.email !== null) {
      part = { email: address, lines: [] };
      parts.push(part);
    }
    part.email ??= address;
    byEmail.set(address.toLowerCase(), part);
    part.lines.push(...waiting, words);
    waiting = [];
  }

  for (const line of lines) {
    const segments = segmentsOf(line);
    for (const { address, words } of segments) takeAddress(address, words);
    if (segments.length > 0) continue;
    const belongs = part.email === null || (waiting.length === 0 && PHONE_LINE.test(line));
    if (belongs) part.lines.push(line);
    else waiting.push(line);
    if (line === "") part.lines.push(...waiting.splice(0));
  }
  part.lines.push(...waiting);
  return parts;
}

function segmentsOf(line: string): { address: string; words: string }[] {
  const found = [...line.matchAll(EMAIL)];
  return found.map(({ 0: address, index }, n) => {
    const previous = found[n - 1];
    const start = previous === undefined ? 0 : previous.index + previous[0].length;
    const end = n === found.length - 1 ? line.length : index + address.length;
    return { address, words: line.slice(start, end).replace(/^[\s.,;:)]+/, "") };
  });
}

/** An address that stands apart goes to the contact without one, or to a new one before those of the text. */
function addAddress(parts: Part[], address: string, place: number): void {
  const [first] = parts;
  if (parts.some(({ email }) => email?.toLowerCase() === address.toLowerCase())) return;
  if (first !== undefined && first.email === null) first.email = address;
  else if (parts.length < PARTS_MAX) parts.splice(place, 0, { email: address, lines: [] });
}

function contactOf({ email, lines }: Part): Contact {
  const text = lines.join(", ");
  const phone = (LABELLED_PHONE.exec(text) ?? US_PHONE.exec(text))?.[1] ?? null;
  return { name: inOneLine(lines.map((line) => without(without(line, email), phone))), email, phone, role: ROLE };
}

function inOneLine(lines: readonly string[]): string | null {
  const named = [...new Set(lines)].filter((line) => line !== "" && !NOTHING.test(line));
  return named.map((line, n) => (n === named.length - 1 || /[.,;:]$/.test(line) ? line : `${line},`)).join(" ") || null;
}

/** What forms put into an empty field, and a line between two people. */
const NOTHING = /^(?:n\/?a|none|null|undefined|and|or)\.?$/i;

/** Without the value at the end of a line, and its label. A value within a sentence stays. */
function without(line: string, value: string | null): string {
  const end = line.replace(/[\s.,;)]{1,10}$/, "");
  if (value === null || !end.endsWith(value)) return line;
  const before = end.slice(0, -value.length);
  const [label] = LABEL.exec(before.slice(-LABEL_LENGTH_MAX)) ?? [];
  return label === undefined ? line : before.slice(0, before.length - label.length).trim();
}
