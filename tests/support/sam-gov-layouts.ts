/** Real notices of SAM.gov in each of its layouts. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { aFile } from "./imports.ts";
import { EXCERPTS } from "./real-data.ts";

/** A row of the bulk CSV. */
export type Row = Record<string, unknown>;

export function dailyRows(directory = EXCERPTS): Row[] {
  const daily = join(directory, "sam-gov/daily");
  return readdirSync(daily).flatMap((name) => {
    const bytes = readFileSync(join(daily, name));
    return JSON.parse((name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString()) as Row[];
  });
}

/** A file of these notices: the bulk CSV, the rows as JSON, or an API response. */
export const samGovFiles = {
  csv(rows: readonly Row[]): string {
    const columns = Object.keys(rows[0] ?? {});
    const line = (cells: unknown[]) => cells.map((cell) => `"${String(cell ?? "").replaceAll('"', '""')}"`).join(",");
    return aFile(`\ufeff${[columns, ...rows.map((row) => columns.map((column) => row[column]))].map(line).join("\r\n")}\r\n`);
  },
  rows: (rows: readonly Row[]): string => aFile(JSON.stringify(rows)),
  api: (rows: readonly Row[]): string => aFile(JSON.stringify({ opportunitiesData: rows.map(responseNoticeOf) })),
} as const;

export type SamGovLayout = keyof typeof samGovFiles;

/**
 * The notice as Get Opportunities v2 returns it: a date without a time, an awardee without a place, no text, and the organization as a path
 * of names, which may contain dots themselves.
 */
export function responseNoticeOf(row: Row): Row {
  const text = (column: string) => (row[column] === "null" ? "" : String(row[column] ?? "").trim());
  const contact = (which: "Primary" | "Secondary") => ({
    type: which.toLowerCase(),
    title: text(`${which}ContactTitle`) || null,
    fullName: text(`${which}ContactFullname`) || null,
    email: text(`${which}ContactEmail`) || null,
    phone: text(`${which}ContactPhone`) || null,
  });
  const contacts = [contact("Primary"), contact("Secondary")].filter(({ fullName, email, phone }) => fullName ?? email ?? phone);
  const isOffice = text("OrganizationType") === "OFFICE";
  const path = (columns: string[]) => [...new Set(columns.map(text))].filter((name) => name !== "").join(".");
  return {
    noticeId: text("NoticeId"),
    title: text("Title"),
    solicitationNumber: text("Sol#") || null,
    fullParentPathName: path(["Department/Ind.Agency", "Sub-Tier", ...(isOffice ? ["Office"] : [])]),
    fullParentPathCode: path(["CGAC", "FPDS Code", ...(isOffice ? ["AAC Code"] : [])]),
    organizationType: text("OrganizationType"),
    postedDate: text("PostedDate").slice(0, 10),
    type: text("Type"),
    baseType: text("BaseType"),
    archiveDate: text("ArchiveDate") || null,
    typeOfSetAside: text("SetASideCode") || null,
    typeOfSetAsideDescription: text("SetASide") || null,
    responseDeadLine: text("ResponseDeadLine") || null,
    naicsCode: text("NaicsCode") || null,
    naicsCodes: text("NaicsCode") === "" ? [] : [text("NaicsCode")],
    classificationCode: text("ClassificationCode") || null,
    active: text("Active"),
    award: {
      number: text("AwardNumber") || null,
      amount: text("Award$") || null,
      awardee: { name: text("Awardee").replace(/ .* \d{5} USA$/, "") || null },
    },
    pointOfContact: contacts.length === 0 ? null : contacts,
    description: `https://api.sam.gov/prod/opportunities/v1/noticedesc?noticeid=${text("NoticeId")}`,
    placeOfPerformance: { city: { name: text("PopCity") }, state: { code: text("PopState") }, country: { code: text("PopCountry") } },
    additionalInfoLink: text("AdditionalInfoLink") || null,
    resourceLinks: null,
  };
}
