/** A notice of SAM.gov with the fields of all layouts. */
import { type JsonObject, objectOf, textOf } from "../../text/json-value.ts";

/** What identifies a notice and its revisions. Here and below, a blank value or the word "null" is "". */
export type Identity = {
  id: string;
  title: string;
  number: string;
  /** Activity address code of the office, within which a solicitation number is unique. Undefined if the layout lacks it. */
  officeCode?: string | undefined;
  posted: string;
  /** An instant before it was posted, for the order of versions, if the layout does not state when it was. */
  postedAfter?: string;
  deadline?: string;
  type: string;
  baseType: string;
  /** Undefined if the layout lacks it. */
  awardNumber?: string | undefined;
  /** The id of the first version of the notice, and ids of others, as far as the layout names them. */
  firstId?: string;
  others?: readonly string[];
};

/** A notice of any layout. What may be undefined is missing in some layouts, so that stored values stay. */
export type Notice = Identity & {
  organization: Organization;
  /** The code of the sub-tier, such as `97AS`. */
  agencyCode?: string | undefined;
  archiveDate: string;
  active: string;
  setAsides?: string[];
  setAsideLabel: string;
  naics?: string[];
  productCode?: string;
  /** City, state and country. */
  placeOfPerformance?: string[];
  amount?: string;
  awardee?: string | undefined;
  awardDate?: string;
  contacts?: { name: string; email: string; phone: string; role: string }[];
  infoLink?: string;
  resourceLinks?: string[];
  description?: string;
  /** The state, which only the page backend has. A draft is not published. */
  pageState?: { isCancelled: boolean; isDeleted: boolean; isArchived: boolean; isDraft: boolean };
  /** A newer version is in the same response. */
  isSuperseded?: boolean;
  /** Statuses that the layout cannot state. A stored one of the same version stays. */
  statesNot?: readonly string[];
};

/** A name is undefined if the layout lacks it, or only its beginning is certain. */
export type Organization = { agency?: string | undefined; subAgency?: string | undefined; office?: string | undefined };

/** A point of contact, as the v2 API and the page backend have it. */
export function contactOf(contact: JsonObject): NonNullable<Notice["contacts"]>[number] {
  return {
    name: textOf(contact.fullName ?? contact.fullname),
    email: textOf(contact.email),
    phone: textOf(contact.phone),
    role: textOf(contact.title) || textOf(contact.type),
  };
}

/** City, state and country of a place of performance in JSON. State and country are codes, as in the CSV. */
export function placeNames({ city, state, country }: JsonObject): string[] {
  return [textOf(objectOf(city).name), textOf(objectOf(state).code), textOf(objectOf(country).code)];
}

/** The codes and the words for a set-aside. Where only unknown words name it, its codes are unknown, so that stored ones stay. */
export function setAsidesOf(codes: string, label: string): Pick<Notice, "setAsides" | "setAsideLabel"> {
  const setAsides = setAsideCodes(codes);
  if (setAsides.length > 0 || !isSetAside(label)) return { setAsideLabel: label, setAsides };
  const [, code, soleSource] = SET_ASIDES.find(([words]) => words.test(label)) ?? [];
  if (code === undefined) return { setAsideLabel: label };
  return { setAsideLabel: label, setAsides: [/sole source/i.test(label) ? (soleSource ?? code) : code] };
}

/** The words of SAM.gov for each set-aside, with its code and the code of a sole source. Old notices have other words than new ones. */
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
