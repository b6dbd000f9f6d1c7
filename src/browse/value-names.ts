/** Values of filters in people's words, for the form and the counts beside results. */
import { statusInWords } from "../opportunities/status.ts";

const names: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  program_type: {
    SBIR: "small business research (SBIR)",
    STTR: "small business technology transfer (STTR)",
    BAA: "broad agency announcement (BAA)",
    RFI: "request for information (RFI)",
    RFP: "request for proposals (RFP)",
    OTA: "other transaction (OTA)",
    GRANT: "grant",
    CONTRACT: "contract",
    PRIZE: "prize or challenge",
    CSO: "commercial solutions opening (CSO)",
    CRADA: "joint research agreement (CRADA)",
    INDUSTRY_EVENT: "event for industry",
    OTHER: "other",
  },
  applicant: {
    university: "universities and colleges",
    "small-business": "small businesses",
    "for-profit": "other companies",
    nonprofit: "nonprofits",
    individual: "individuals",
    tribe: "tribes",
    state: "states",
    county: "counties",
    city: "cities and towns",
    "special-district": "special districts",
    "school-district": "school districts",
    "housing-authority": "housing authorities",
    other: "others, as the text says",
    unrestricted: "anyone",
  },
};

/** "small businesses" for `small-business` of `applicant`. A value without a name is shown as it is. */
export function valueName(field: string, value: string): string {
  if (field === "status") return statusInWords(value);
  return names[field]?.[value] ?? value.replaceAll("_", " ");
}
