/** NASA NSPIRES: its list of open solicitations as JSON. */
import { dateInstant } from "../../text/eastern.ts";
import { type JsonObject, textOf } from "../../text/json-value.ts";
import { plainText } from "../../text/plain-text.ts";
import type { Draft, Format, FormatContext } from "../format.ts";
import { programType } from "../program-type.ts";
import { jsonObjects } from "../readers/json-elements.ts";
import { elementsOf, faultWithout, itemsOf, type ReadItem, rejected } from "./items.ts";

const SOURCE = "NASA_NSPIRES";

export const nasaNspires: Format = {
  name: "nasa-nspires",
  source: SOURCE,
  about: "NASA NSPIRES: the list of open solicitations as JSON",
  entry: /\.json$/i,
  read: (inputs, context) =>
    itemsOf(
      elementsOf(inputs, ({ bytes }) => jsonObjects(bytes(), "aaData", { faultOf: faultWithout("sId") })),
      (row) => readRow(row, context),
    ),
};

function readRow(row: JsonObject, context: FormatContext): ReadItem {
  const id = /^\{?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i.exec(textOf(row.sId))?.[1]?.toUpperCase();
  if (id === undefined) return rejected("sId must be a GUID");
  return { kind: "record", record: toDraft(id, row, context) };
}

function toDraft(id: string, row: JsonObject, context: FormatContext): Draft {
  const title = plainText(textOf(row.title));
  const number = textOf(row.solicitation_number);
  const date = (member: string) => textOf(row[member]).replace(/^--$/, ""); // No date is stated.
  return {
    source: {
      code: SOURCE,
      opportunity_id: id,
      url: `https://nspires.nasaprs.com/external/solicitations/summary.do?method=init&solId=%7B${id}%7D&path=open`,
    },
    title: title || number || "Untitled",
    ...nspiresStatus(textOf(row.status), context),
    organization: { agency: "National Aeronautics and Space Administration" },
    program: {
      ...kindOf(textOf(row.announcement_type), title, context),
      solicitation_id: number || null,
      solicitation_title: title || null,
    },
    dates: {
      posted_at: dateInstant(date("release_date"), "00:00:00", context.warn),
      closes_at: dateInstant(date("proposal_due"), "23:59:59", context.warn),
    },
  };
}

/** Rows stay "Open" after their due date, so only "Closed" is taken as it stands. */
function nspiresStatus(status: string, { warn }: FormatContext): Pick<Draft, "status"> {
  if (status === "Closed") return { status: "closed" };
  if (status !== "Open" && status !== "Due in 30 Days") warn(`unknown status "${status}": the dates decide`);
  return {};
}

/** A NASA Research Announcement is a form of broad agency announcement (NASA FAR Supplement 1835.016-71). */
function kindOf(announcement: string, title: string, { warn }: FormatContext): NonNullable<Draft["program"]> {
  if (announcement === "NRA") return { type: "BAA", contract_class: "NASA Research Announcement" };
  if (announcement === "CAN") return { type: "GRANT", contract_class: "Cooperative Agreement Notice" };
  if (announcement !== "OTHER" && announcement !== "") warn(`unknown announcement type "${announcement}"`);
  const type = programType({ title });
  return { type: type === "OTHER" ? null : type, contract_class: announcement === "OTHER" ? null : announcement || null };
}
