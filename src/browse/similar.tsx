/** @jsxImportSource hono/jsx */
/** The part of an opportunity's page with other rounds of the same call and similar opportunities. */

import { type Due, dueOf } from "../opportunities/due.ts";
import { numberOf } from "../opportunities/number.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { SIMILAR_ENDED_EARLY } from "../search/budget.ts";
import { relationsIn, type Similar } from "../search/similar.ts";
import { capitalized } from "../text/capitalized.ts";
import type { EpochMs } from "../text/instant.ts";
import { opportunityAddress } from "./addresses.ts";
import { cutText, StatusBadge } from "./marks.tsx";
import { DueLine } from "./times.tsx";

/** Opportunities that a page names. */
export const SIMILAR_MAX = 5;

const names = { earlier_round: "Earlier round: ", later_round: "Later round: ", similar: "" };

/** Nothing if there is neither. If the search ran out of time, a line says so. */
export function SimilarOnes({ similar, now }: { similar: Similar; now: EpochMs }) {
  const relations = relationsIn(similar);
  if (relations.length === 0 && similar.isWhole) return null;
  return (
    <section aria-labelledby="similar">
      <h2 id="similar">Similar opportunities</h2>
      {!similar.isWhole && <p class="understood">{SIMILAR_ENDED_EARLY}.</p>}
      <ul class="similar">
        {relations.map(({ opportunity, duplicates, relation, why }) => (
          <SimilarItem
            key={opportunity.id}
            due={dueOf(opportunity, now, duplicates)}
            {...{ opportunity, now }}
            why={capitalized(names[relation] + why)}
          />
        ))}
      </ul>
    </section>
  );
}

function SimilarItem({ opportunity, due, now, why }: { opportunity: WholeOpportunity; due: Due; now: EpochMs; why: string }) {
  const number = numberOf(opportunity);
  return (
    <li>
      <a href={opportunityAddress(opportunity.id)}>
        <bdi>{cutText(opportunity.title, 200)}</bdi>
      </a>{" "}
      <StatusBadge status={opportunity.status} /> <DueLine due={due} now={now} />
      <br />
      <span class="quiet">
        {number !== null && `${cutText(number, 200)}. `}
        {cutText(why, 300)}.
      </span>
    </li>
  );
}
