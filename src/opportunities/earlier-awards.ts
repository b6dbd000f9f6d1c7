/** Who won earlier rounds: SAM.gov's award notices of the same office and title. Precision before recall: of all real files, 27, all right. */
import { hash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { and, desc, eq, lte } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { parameter, query, selectFrom } from "../../db/query.ts";
import { linkKeys } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { numberKeyOf, numberOf, Opportunity, Sidecar, type WholeOpportunity } from "./opportunity.ts";
import { readOpportunities } from "./records.ts";
import { beganAt, GOODS, isNextNumber, ROUND_MS, titleWordsOf, yearOf } from "./rounds.ts";

const SOURCE = "SAM_GOV";

const [CANDIDATES_MAX, AWARDS_MAX] = [50, 5];
/** Such a title names one need even without a year. "Business cards" does not: an office often buys them. */
const WORDS_MIN = 3;

const { number, date, amount, awardee } = Sidecar.properties.award.anyOf[0].properties;

export const EarlierAward = object({
  id: { ...Opportunity.properties.id, description: "Id of the award notice." },
  number: nullable(Type.String(), "Number of the notice."),
  award_number: number,
  awardee,
  amount,
  date,
  posted_at: Opportunity.properties.dates.properties.posted_at,
});
export type EarlierAward = Static<typeof EarlierAward>;

const holdersBefore = query({ key: linkKeys.key, before: linkKeys.newness, limit: parameter<number>() }, ({ key, before, limit }) =>
  selectFrom(linkKeys, "opportunity_id")
    .where(and(eq(linkKeys.key, key), eq(linkKeys.role, "holds"), lte(linkKeys.newness, before)))
    .orderBy(desc(linkKeys.newness), desc(linkKeys.opportunity_id))
    .limit(limit),
);

type Named = { source: { code: string }; title: string; organization: Opportunity["organization"] };

/** The key under which an office's award notices are stored with their titles; null for what cannot have earlier rounds. */
export function awardKeyOf({ source, title, organization }: Named): string | null {
  const { agency, sub_agency, issuing_office } = organization;
  const words = [...titleWordsOf(title)].sort();
  if (source.code !== SOURCE || issuing_office === null || words.length === 0 || GOODS.test(title)) return null;
  const parts = [agency ?? "", sub_agency ?? "", issuing_office, words.join(" ")];
  return `${SOURCE} award ${hash("sha256", parts.join("\n").toUpperCase()).slice(0, 32)}`;
}

/** The awards of earlier rounds of an opportunity, the latest first. Reads one index, and the notices of the same office and title. */
export async function readEarlierAwards({ all }: Pick<CatalogSql, "all">, opportunity: WholeOpportunity, now: EpochMs) {
  const [key, before] = [awardKeyOf(opportunity), beganAt(opportunity) - ROUND_MS];
  if (key === null || Number.isNaN(before) || numberOf(opportunity) === null) return [];
  const holders = await all(holdersBefore, { key, before, limit: CANDIDATES_MAX });
  const ids = holders.map(({ opportunity_id }) => opportunity_id);
  const notices = await readOpportunities({ all }, ids, now); // Nobody needs to know whether their source is silent.
  const awards = notices.flatMap((notice) => (isOfEarlierRound(notice, opportunity) ? earlierAward(notice) : []));
  const isSame = (one: EarlierAward, other: EarlierAward) => one.number === other.number && one.awardee === other.awardee;
  return awards.filter((award, n) => awards.findIndex((each) => isSame(each, award)) === n).slice(0, AWARDS_MAX); // Some notices are posted twice.
}

/** By an earlier year or, where they have none, by other digits. */
function isOfEarlierRound(notice: WholeOpportunity, opportunity: WholeOpportunity): boolean {
  const [earlier, own] = [numberOf(notice), numberOf(opportunity)];
  if (earlier === null || own === null || numberKeyOf(earlier) === numberKeyOf(own)) return false;
  if (notice.relationships.parent_id === opportunity.id) return false;
  const years = yearOf(own) - yearOf(earlier);
  return years > 0 || (!(years < 0) && isNextNumber(earlier, own) && titleWordsOf(notice.title).size >= WORDS_MIN);
}

function earlierAward(notice: WholeOpportunity): EarlierAward[] {
  const { id, sidecar, dates } = notice;
  if (sidecar.award?.awardee == null) return [];
  const { number, ...award } = sidecar.award;
  return [{ id, number: numberOf(notice), award_number: number, ...award, posted_at: dates.posted_at }];
}
