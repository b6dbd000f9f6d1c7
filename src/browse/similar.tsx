/** @jsxImportSource hono/jsx */
/** The part of an opportunity's page with other rounds of the same call and similar opportunities. */

import { dueOf } from "../opportunities/due.ts";
import { numberOf } from "../opportunities/number.ts";
import { SIMILAR_ENDED_EARLY } from "../search/budget.ts";
import { relationsIn, type Similar } from "../search/similar.ts";
import { capitalized } from "../text/capitalized.ts";
import type { EpochMs } from "../text/instant.ts";
import { cutText, Section, StatusBadge, TitleLink } from "./marks.tsx";
import { DueLine } from "./times.tsx";

export const SIMILAR_MAX = 5;

const names = { earlier_round: "Earlier round: ", later_round: "Later round: ", similar: "" };

/** Nothing if there is neither. If the search ran out of time, a line says so. */
export function SimilarOnes({ similar, now }: { similar: Similar; now: EpochMs }) {
  const relations = relationsIn(similar);
  if (relations.length === 0 && similar.isWhole) return null;
  return (
    <Section id="similar" title="Similar opportunities">
      {!similar.isWhole && <p class="understood">{SIMILAR_ENDED_EARLY}.</p>}
      <ul class="similar">
        {relations.map(({ opportunity, duplicates, relation, why }) => {
          const number = numberOf(opportunity);
          return (
            <li>
              <TitleLink id={opportunity.id} title={opportunity.title} max={200} /> <StatusBadge status={opportunity.status} />{" "}
              <DueLine due={dueOf(opportunity, now, duplicates)} now={now} />
              <br />
              <span class="quiet">
                {number !== null && `${cutText(number, 200)}. `}
                {cutText(capitalized(names[relation] + why), 300)}.
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
