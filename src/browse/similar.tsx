/** @jsxImportSource hono/jsx */
/** The part of the page of an opportunity that names other rounds of the same call, and what is like it. */
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { SIMILAR_ENDED_EARLY } from "../search/budget.ts";
import { numberInWords } from "../search/number.ts";
import type { Similar } from "../search/similar.ts";
import type { EpochMs } from "../text/instant.ts";
import { opportunityAddress } from "./addresses.ts";
import { cutText, StatusBadge } from "./marks.tsx";
import { Due } from "./times.tsx";

/** Opportunities that a page names. */
export const SIMILAR_MAX = 5;

/** Nothing if there is neither. If the search ran out of time, a line says so. */
export function SimilarOnes({ similar: { similar, rounds, isWhole }, now }: { similar: Similar; now: EpochMs }) {
  if (similar.length + rounds.length === 0 && isWhole) return null;
  return (
    <section aria-labelledby="similar">
      <h2 id="similar">Similar opportunities</h2>
      {!isWhole && <p class="understood">{SIMILAR_ENDED_EARLY}.</p>}
      <ul>
        {rounds.map(({ opportunity, isEarlier, reason }) => (
          <SimilarItem
            key={opportunity.id}
            opportunity={opportunity}
            now={now}
            why={`${isEarlier ? "Earlier" : "Later"} round: ${reason}`}
          />
        ))}
        {similar.map(({ opportunity, shared }) => (
          <SimilarItem key={opportunity.id} opportunity={opportunity} now={now} why={`Shared words: ${shared.join(", ")}`} />
        ))}
      </ul>
    </section>
  );
}

function SimilarItem({ opportunity, now, why }: { opportunity: WholeOpportunity; now: EpochMs; why: string }) {
  return (
    <li>
      <a href={opportunityAddress(opportunity.id)}>
        <bdi>{cutText(opportunity.title, 200)}</bdi>
      </a>{" "}
      <StatusBadge status={opportunity.status} /> <Due opportunity={opportunity} now={now} />
      <br />
      <span class="quiet">
        {cutText(numberInWords(opportunity), 200)}. {cutText(why, 300)}.
      </span>
    </li>
  );
}
