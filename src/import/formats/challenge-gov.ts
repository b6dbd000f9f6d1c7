/** Challenge.gov: the list of active prize competitions as JSON. */
import { parseInstant } from "../../text/instant.ts";
import type { JsonObject } from "../../text/json-value.ts";
import { plainText } from "../../text/plain-text.ts";
import type { Draft, Format } from "../format.ts";
import { jsonObjects } from "../readers/json-elements.ts";
import { elementsOf, itemsOf, type ReadItem, rejected } from "./items.ts";

const SOURCE = "CHALLENGE_GOV";

export const challengeGov: Format = {
  name: "challenge-gov",
  source: SOURCE,
  about: "Challenge.gov: the list of active prize competitions as JSON",
  entry: /\.json$/i,
  read: (inputs) =>
    itemsOf(
      elementsOf(inputs, ({ bytes }) => jsonObjects(bytes())),
      readChallenge,
    ),
};

/** Identified by the address of its page alone, which may be on any host. */
function readChallenge(challenge: JsonObject): ReadItem {
  const text = (member: string) => (typeof challenge[member] === "string" ? challenge[member].trim() : "");
  const url = text("details_url");
  if (url === "") return rejected("details_url must not be blank");
  const deadline = text("deadline");
  if (deadline !== "" && parseInstant(deadline) === undefined) {
    const reason = `deadline must be a timestamp with an offset, not ${JSON.stringify(deadline)}`;
    return { ...rejected(reason), source: SOURCE, lineage: url };
  }
  return {
    kind: "record",
    record: {
      source: { code: SOURCE, opportunity_id: url, url },
      title: plainText(text("name")) || "Untitled",
      summary: text("summary") || null,
      organization: organizationOf(plainText(text("agency"))),
      program: { type: "PRIZE" },
      // `pub_date` is left out: it is when the list's collector first saw the challenge, not when it was published. It first appeared on
      // 2021-02-04, so it would have changed every challenge on that day.
      dates: { closes_at: deadline || null },
    },
  };
}

/** "Department - Bureau" or "Department of X, Bureau". Any other comma is part of a name. */
function organizationOf(agency: string): NonNullable<Draft["organization"]> {
  const [, department = agency, bureau = null] =
    /^(.+?) [-–—]+ (.+)$/s.exec(agency) ?? /^((?:U\.?S\.? )?Department of [^,]+), (.+)$/.exec(agency) ?? [];
  return { agency: department || null, sub_agency: bureau };
}
