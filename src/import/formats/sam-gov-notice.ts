/** A notice of SAM.gov with the fields of all layouts. */
import { type JsonObject, objectOf, textOf } from "../../text/json-value.ts";

/** What identifies a notice. A blank value or the word "null" is "". */
export type Identity = {
  id: string;
  title: string;
  number: string;
  /** Activity address code, within which a number is unique. */
  officeCode?: string | undefined;
  posted: string;
  deadline?: string;
  type: string;
  baseType: string;
  awardNumber?: string | undefined;
  /** Ids of the first version and of others, as far as the layout names them. */
  firstId?: string;
  others?: readonly string[];
};

/** What may be undefined is missing in some layouts, so that stored values stay. */
export type Notice = Identity & {
  organization: Organization;
  agencyCode?: string | undefined;
  archiveDate: string;
  active: string;
  setAsides?: string[];
  setAsideLabel: string;
  naics?: string[];
  productCode?: string;
  placeOfPerformance?: string[];
  amount?: string;
  awardee?: string | undefined;
  awardDate?: string;
  contacts?: { name: string; email: string; phone: string; role: string }[];
  infoLink?: string;
  resourceLinks?: string[];
  description?: string;
  /** Of the page backend alone. A draft is not published. */
  pageState?: { isCancelled: boolean; isDeleted: boolean; isArchived: boolean; isDraft: boolean };
  /** Statuses that the layout cannot state: a stored one stays. */
  statesNot?: readonly string[];
};

export type Organization = { agency?: string | undefined; subAgency?: string | undefined; office?: string | undefined };

/** A point of contact of the v2 API or the page backend. */
export function contactOf(contact: JsonObject): NonNullable<Notice["contacts"]>[number] {
  return {
    name: textOf(contact.fullName ?? contact.fullname),
    email: textOf(contact.email),
    phone: textOf(contact.phone),
    role: textOf(contact.title) || textOf(contact.type),
  };
}

/** City, state and country. The last two are codes, as in the CSV. */
export function placeNames({ city, state, country }: JsonObject): string[] {
  return [textOf(objectOf(city).name), textOf(objectOf(state).code), textOf(objectOf(country).code)];
}

/** Where only unknown words name a set-aside, its codes are unknown, so that stored ones stay. */
export function setAsidesOf(codes: string, label: string): Pick<Notice, "setAsides" | "setAsideLabel"> {
  const setAsides = setAsideCodes(codes);
  if (setAsides.length > 0 || !isSetAside(label)) return { setAsideLabel: label, setAsides };
  const [, code, soleSource] = SET_ASIDES.find(([words]) => words.test(label)) ?? [];
  if (code === undefined) return { setAsideLabel: label };
  return { setAsideLabel: label, setAsides: [/sole source/i.test(label) ? (soleSource ?? code) : code] };
}

/** Words for each set-aside, its code, and that of a sole source. Old notices have other words than new ones. */
const SET_ASIDES: readonly [words: RegExp, code: string, soleSource?: string][] = [
  [/economically disadvantaged|\bEDWOSB\b/i, "EDWOSB", "EDWOSBSS"],
  [/women.owned|\bWOSB\b/i, "WOSB", "WOSBSS"],
  [/service.disabled/i, "SDVOSBC", "SDVOSBS"],
  [/hubzone/i, "HZC", "HZS"],
  [/8\(a\)/i, "8A", "8AN"],
  [/^(?=.*small business)(?=.*partial)/i, "SBP"],
  [/^(?=.*small business)(?=.*total)/i, "SBA"],
];

/** Whether words name a set-aside: "No Set aside used" does not. */
export function isSetAside(label: string): boolean {
  return label !== "" && !/^no set[- ]?aside/i.test(label);
}

/** Codes of `SBA` or, sometimes, the list `["SBA"]`. `NONE` is none. */
export function setAsideCodes(text: string): string[] {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).filter((code) => code !== "NONE");
}
