/**
 * Responses of the backend of SAM.gov's pages, which is undocumented: details of a notice (`/opps/v2/opportunities/<id>`) and searches
 * (`/sgs/v1/search`), from files that an operator brings. Only this layout says that a notice was cancelled, and names the first version of
 * an amended one. What its status means is from GSA's description of the Opportunity Management API.
 */
import { easternAt } from "../../text/eastern.ts";
import { parseInstantMs } from "../../text/instant.ts";
import { arrayOf, isObject, type JsonObject, objectOf, objectsOf, textOf } from "../../text/json-value.ts";
import type { Input } from "../format.ts";
import { type Around, type FoundObject, jsonObjects, wholeDocument } from "../readers/json-elements.ts";
import { joined } from "./items.ts";
import { contactOf, type Notice, placeNames, setAsideCodes } from "./sam-gov-notice.ts";

type PageLayout = "details" | "search" | "empty search";

const TYPES: Readonly<Record<string, string>> = {
  a: "Award Notice",
  g: "Sale of Surplus Property",
  i: "Consolidate/(Substantially) Bundle",
  k: "Combined Synopsis/Solicitation",
  o: "Solicitation",
  p: "Presolicitation",
  r: "Sources Sought",
  s: "Special Notice",
  u: "Justification",
};

/** The layout of a document that begins like this, if it comes from the page backend. */
export function pageLayoutOf(beginning: string): PageLayout | undefined {
  if (/"_embedded"\s*:\s*\{\s*"results"\s*:/.test(beginning)) return "search";
  if (/"data2"\s*:\s*\{/.test(beginning)) return "details";
  return /"totalElements"\s*:\s*0\b/.test(beginning) && !beginning.includes('"_embedded"') ? "empty search" : undefined;
}

/** A search that found nothing has no list of results. */
export async function* pageNotices(input: Input, layout: PageLayout, around?: Around): AsyncIterable<FoundObject> {
  if (layout === "search")
    yield* jsonObjects(input.bytes(), "_embedded.results", { around, faultOf: (row) => ("_id" in row ? undefined : "has no _id") });
  else if (layout === "details") yield { kind: "object", line: 1, raw: objectOf(await wholeDocument(input)) };
}

/** How many notices a search found; 0 in any other document. */
export function totalOfSearch(response: unknown): number {
  return Number(textOf(objectOf(objectOf(response).page).totalElements));
}

export function isPageNotice(raw: JsonObject): boolean {
  return isObject(raw.data2) || raw._type === "opportunity";
}

export function noticeOfPage(raw: JsonObject): Notice {
  return isObject(raw.data2) ? noticeOfDetails(raw) : noticeOfSearch(raw);
}

const nothing = { baseType: "", setAsideLabel: "", active: "", archiveDate: "", organization: {} };

/* Details */

function noticeOfDetails(details: JsonObject): Notice {
  const data = objectOf(details.data2);
  const [award, links] = [data.award, details._links].map(objectOf);
  const solicitation = objectOf(data.solicitation);
  const deadlines = objectOf(solicitation.deadlines);
  const id = textOf(details.opportunityId) || textOf(details.id);
  const previous = /\/opportunities\/(\w+)$/.exec(textOf(objectOf(links?.["opportunity:previous"]).href))?.[1] ?? "";
  return {
    ...nothing,
    ...identified(id, textOf(objectOf(details.parent).opportunityId), [previous]),
    pageState: stateOf(textOf(objectOf(details.status).code), details),
    title: textOf(data.title),
    number: textOf(data.solicitationNumber),
    posted: inEasternTime(textOf(details.postedDate)),
    type: TYPES[textOf(data.type)] ?? textOf(data.type),
    archiveDate: textOf(objectOf(data.archive).date),
    awardNumber: textOf(award?.number),
    amount: textOf(award?.amount),
    awardee: textOf(objectOf(award?.awardee).name),
    ...(award !== undefined && "date" in award && { awardDate: textOf(award.date) }),
    // Award notices lack several of these members, whose values the CSV has.
    ...("setAside" in solicitation && { setAsides: setAsideCodes(textOf(solicitation.setAside)) }),
    ...("response" in deadlines && { deadline: textOf(deadlines.response) }),
    ...("naics" in data && { naics: arrayOf(data.naics).flatMap((each) => [objectOf(each).code].flat().map(textOf)) }),
    ...("classificationCode" in data && { productCode: textOf(data.classificationCode) }),
    ...("placeOfPerformance" in data && { placeOfPerformance: placeNames(objectOf(data.placeOfPerformance)) }),
    ...("pointOfContact" in data && { contacts: objectsOf(data.pointOfContact).map(contactOf) }),
    ...("description" in details && {
      description:
        joined(
          objectsOf(details.description).map(({ body }) => textOf(body)),
          "\n",
        ) ?? "",
    }),
  };
}

/** The first version itself names none. */
function identified(id: string, first: string, others: readonly string[]): Pick<Notice, "id" | "firstId" | "others"> {
  const named = [...new Set([first, ...others])].filter((other) => other !== "" && other !== id);
  return { id, firstId: first || id, others: named };
}

/** `inactive` and `archived` are archived; a notice may be cancelled before and after that. */
function stateOf(code: string, { cancelled, archived, deleted }: JsonObject): NonNullable<Notice["pageState"]> {
  return {
    isCancelled: cancelled === true || /_cancelled$/.test(code),
    isDeleted: deleted === true,
    isArchived: archived === true || code === "archived" || code.startsWith("inactive"),
    isDraft: code === "draft",
  };
}

/** An instant in UTC as the other layouts have it, because the day may be another. */
function inEasternTime(text: string): string {
  const [utc, instant] = /^(.+)(?:Z|\+00(?::?00)?)$/.exec(text) ?? [];
  const ms = utc === undefined ? undefined : parseInstantMs(`${instant}Z`);
  return ms === undefined ? text : easternAt(ms);
}

/* Searches */

/** A row has the beginning of the text only. `isCanceled` is always false, and `isActive` stays true after the deadline. */
function noticeOfSearch(row: JsonObject): Notice {
  const organizations = objectsOf(row.organizationHierarchy);
  const office = organizations.find(({ type }) => type === "OFFICE");
  const type = objectOf(row.type);
  const kind = textOf(type.value) || (TYPES[textOf(type.code)] ?? "");
  const name = (level: number) => textOf(organizations[level]?.name) || undefined;
  const awardee = textOf(objectOf(objectOf(row.award).awardee).name);
  return {
    ...nothing,
    ...identified(textOf(row._id), textOf(row.parentNoticeId), []),
    title: textOf(row.title),
    number: textOf(row.solicitationNumber),
    officeCode: office && textOf(office.code),
    posted: inEasternTime(textOf(row.publishDate)),
    type: kind,
    baseType: kind, // The original type is not here; it seldom changes.
    active: row.isActive === false ? "No" : "Yes",
    organization: { agency: name(0), subAgency: name(1), office: office && textOf(office.name) },
    agencyCode: textOf(organizations[1]?.code),
    awardee: awardee || undefined, // Neither number nor amount are here.
    deadline: deadlineOf(textOf(row.responseDateActual), textOf(row.responseDate)),
    statesNot: ["cancelled", "archived", "awarded"],
  };
}

/** The deadline with its own offset, as published. Without one, its zone is unknown, and UTC is used. */
function deadlineOf(local: string, utc: string): string {
  return utc === "" || /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(local) ? local : inEasternTime(utc);
}
