/** @jsxImportSource hono/jsx */
/** The page of one opportunity: its dates, all its fields, and its history. */
import type { CatalogDb } from "../../db/engine.ts";
import { attachmentInWords, type DatedAttachments, datedAttachments } from "../events/attachments.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { historyPage, readHistory } from "../events/history.ts";
import { type MovedDeadline, movedDeadlines } from "../events/moved-deadlines.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { type Belonging, readBelonging, readTwins } from "../opportunities/related.ts";
import { erasedInWords } from "../past/in-words.ts";
import { readWholePast } from "../past/whole.ts";
import { searchBudget } from "../search/budget.ts";
import { decodePlace, encodePlace } from "../search/cursor.ts";
import { numberInWords } from "../search/number.ts";
import { findSimilar, type Similar } from "../search/similar.ts";
import { BadValue } from "../text/bad-value.ts";
import { withCommas } from "../text/counted.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { plainParagraphs } from "../text/plain-text.ts";
import { UUID } from "../text/uuid.ts";
import { webAddress } from "../text/web-address.ts";
import { addressOf, opportunityAddress, type UrlQuery } from "./addresses.ts";
import { type AsOf, AsOfForm, noSuchDay, notKnownThen, PastNote, readAsOf } from "./as-of.tsx";
import { Dates } from "./date-line.tsx";
import { KeyFacts, OtherFacts } from "./facts.tsx";
import { TimelineEntry } from "./history.tsx";
import { cutText, StatusBadge } from "./marks.tsx";
import type { BrowsePage, PageContext } from "./page.ts";
import { TITLE_MAX } from "./results.tsx";
import { SIMILAR_MAX, SimilarOnes } from "./similar.tsx";
import { Due, Exact } from "./times.tsx";

/** More parts are shown when the reader asks for them. */
const PARTS_OPEN = 5;
/** Events on a page of the history. */
const EVENTS = 50;
/** Characters of a text: longer ones are cut, so that no page is too heavy for a phone. */
const TEXT_MAX = 100_000;
const ATTACHMENTS_MAX = 100;
/** A title of more characters is set smaller. */
const LONG = 150;

/** The page, or undefined if there is no such opportunity. `id` is null if the address has malformed percent-encoding. */
export async function opportunityPage(context: PageContext, id: string | null): Promise<BrowsePage | undefined> {
  const { catalog, index, now, query } = context;
  if (id === null || !UUID.test(id)) return undefined;
  const [opportunity] = await readOpportunities(catalog, [id.toLowerCase()], now);
  if (opportunity === undefined) return undefined;
  const given = query.getAll("as_of");
  const asOf = readAsOf(given, now);
  if (asOf instanceof BadValue) return noSuchDay(given, asOf, opportunityAddress(opportunity.id));
  if (asOf !== null) return pastPage(context, opportunity.id, asOf);
  const events = await readHistory(catalog, opportunity.id);
  const attachments = datedAttachments(opportunity.sidecar.attachments, events);
  const moved = movedDeadlines(opportunity, events);
  const history = historyAt(events, opportunity.id, query.get("after"), now);
  const linked = await readLinked(catalog, opportunity, now);
  const similar = await findSimilar(catalog, index, opportunity, SIMILAR_MAX, now, searchBudget());
  return {
    title: cutText(opportunity.title, 120),
    section: "find",
    body: <OpportunityBody {...{ opportunity, attachments, moved, linked, similar, history, now }} />,
  };
}

/** The page as of an earlier instant. An address with a time ago leads to one with the timestamp, which stays as it is. */
async function pastPage({ catalog, query }: PageContext, id: string, { at, given: asOf }: AsOf): Promise<BrowsePage> {
  const address = opportunityAddress(id);
  if (query.get("as_of") !== asOf) return { location: opportunityAddress(id, asOf) };
  const read = await readWholePast(catalog, id, at);
  if ("unknown" in read) return notKnownThen(at, read.unknown, address);
  const { past } = read;
  const { opportunity, twins, belonging, erased } = past;
  const attachments = datedAttachments(opportunity.sidecar.attachments, past.history);
  const moved = movedDeadlines(opportunity, past.history);
  const history = historyAt(past.history, id, query.get("after"), at);
  const unknown = erased === null ? undefined : erasedInWords(erased);
  return {
    title: `${cutText(opportunity.title, 120)} as of ${formatInstant(at).slice(0, 10)}`,
    section: "find",
    body: (
      <>
        <PastNote at={at} address={address} unknown={unknown} />
        <OpportunityBody {...{ opportunity, attachments, moved, history, asOf }} linked={{ twins, ...belonging }} now={at} />
      </>
    ),
  };
}

type History = { events: OpportunityEvent[]; next: string | undefined; isFirst: boolean };

/** The page after a cursor; the newest events if the one at the cursor is gone. */
function historyAt(history: readonly OpportunityEvent[], id: string, cursor: string | null, now: EpochMs): History {
  const after = cursor === null ? undefined : decodePlace(id, cursor).keys[0]?.toString();
  const page = historyPage(history, after, EVENTS);
  if (page === undefined) return historyAt(history, id, null, now);
  const { events, next } = page;
  return { events, next: next && encodePlace(id, { now, keys: [next] }), isFirst: after === undefined };
}

/** Its twins, its parent and its parts. */
type Linked = Belonging & { twins: readonly WholeOpportunity[] };

async function readLinked(catalog: CatalogDb, opportunity: WholeOpportunity, now: EpochMs): Promise<Linked> {
  const twins = (await readTwins(catalog, [opportunity.id], now)).get(opportunity.id) ?? [];
  return { twins, ...(await readBelonging(catalog, opportunity, now)) };
}

type BodyProps = {
  opportunity: WholeOpportunity;
  attachments: DatedAttachments;
  moved: readonly MovedDeadline[];
  linked: Linked;
  /** Absent from a page of the past. */
  similar?: Similar;
  history: History;
  now: EpochMs;
  /** The instant in the address of a page of the past. Its links to other opportunities have it, too. */
  asOf?: string;
};

function OpportunityBody({ opportunity, attachments, moved, linked, similar, history, now, asOf }: BodyProps) {
  const { title, status, status_display, source, description, summary, eligibility } = opportunity;
  const upstream = webAddress(source.url);
  return (
    <article class="opportunity">
      <header>
        <p class="kicker">
          {cutText(numberInWords(opportunity), 200)} · {cutText(source.name, 200)}
        </p>
        <h1 dir="auto" class={title.length > LONG ? "long" : undefined}>
          {cutText(title, TITLE_MAX)}
        </h1>
        <p class="line">
          <StatusBadge status={status} /> {status_display !== null && <span class="quiet">{cutText(status_display, 100)}</span>}{" "}
          <Due opportunity={opportunity} now={now} />
        </p>
        <p class="line">
          {upstream !== undefined && (
            <a class="button" href={upstream} rel="noreferrer external">
              Open at {new URL(upstream).hostname}
            </a>
          )}
          <a href="#history">What changed</a>
        </p>
      </header>
      <Dates opportunity={opportunity} moved={moved} now={now} />
      <LinkedRecords opportunity={opportunity} linked={linked} asOf={asOf} />
      <div class="columns">
        <aside aria-label="Contact and awards">
          <KeyFacts opportunity={opportunity} />
        </aside>
        <div class="main">
          <section class="prose" aria-labelledby="description">
            <h2 id="description">Description</h2>
            <Paragraphs text={description ?? summary} />
          </section>
          {attachments.attachments.length + attachments.removed_attachments.length > 0 && <Attachments {...attachments} />}
          {eligibility.requirements !== null && (
            <section class="prose" aria-labelledby="eligibility">
              <h2 id="eligibility">Eligibility</h2>
              <Paragraphs text={eligibility.requirements} />
            </section>
          )}
          <section aria-labelledby="history">
            <h2 id="history">History</h2>
            <Timeline history={history} address={addressAsOf(opportunity.id, asOf)} now={now} />
            <AsOfForm address={opportunityAddress(opportunity.id)} />
          </section>
          {similar !== undefined && <SimilarOnes similar={similar} now={now} />}
        </div>
        <aside aria-label="Codes and record">
          <OtherFacts opportunity={opportunity} now={now} />
        </aside>
      </div>
    </article>
  );
}

/** Returns the address of the page with another query. On a page of the past, that stays as of the same instant. */
function addressAsOf(id: string, asOf = ""): (query: UrlQuery) => string {
  return (query) => addressOf(opportunityAddress(id), { as_of: asOf, ...query });
}

type LinkedProps = { opportunity: WholeOpportunity; linked: Linked; asOf: string | undefined };

function LinkedRecords({ opportunity, linked: { twins, parent, parts, total }, asOf }: LinkedProps) {
  if (twins.length + parts.length === 0 && parent === undefined) return null;
  const { canonical_id } = opportunity.relationships;
  return (
    <section class="linked" aria-label="Related records">
      <ul>
        {twins.map((twin) => (
          <LinkedRecord
            key={twin.id}
            relation={twin.id === canonical_id ? "Canonical record" : "The same opportunity"}
            record={twin}
            asOf={asOf}
          />
        ))}
        {parent !== undefined && <LinkedRecord relation="Belongs to" record={parent} asOf={asOf} />}
      </ul>
      {parts.length > 0 && (
        <details open={parts.length <= PARTS_OPEN}>
          <summary>Parts and later stages ({withCommas(total)})</summary>
          <ul>
            {parts.map((part) => (
              <LinkedRecord key={part.id} relation={numberInWords(part)} record={part} asOf={asOf} />
            ))}
            {total > parts.length && <li class="quiet">{withCommas(total - parts.length)} more</li>}
          </ul>
        </details>
      )}
    </section>
  );
}

type LinkedRecordProps = { relation: string; record: WholeOpportunity; asOf: string | undefined };

function LinkedRecord({ relation, record: { id, title, source, status }, asOf }: LinkedRecordProps) {
  return (
    <li>
      {cutText(relation, 200)} at {cutText(source.name, 200)}:{" "}
      <a href={opportunityAddress(id, asOf)}>
        <bdi>{cutText(title, 200)}</bdi>
      </a>{" "}
      <StatusBadge status={status} />
    </li>
  );
}

function Attachments({ attachments, removed_attachments: removed }: DatedAttachments) {
  const shown = attachments.slice(0, ATTACHMENTS_MAX);
  const gone = removed.slice(0, ATTACHMENTS_MAX - shown.length);
  const more = attachments.length + removed.length - shown.length - gone.length;
  return (
    <section aria-labelledby="attachments">
      <h2 id="attachments">Attachments and links</h2>
      <ul>
        {shown.map(({ name, url, since, ...each }, n) => (
          <li key={n}>
            <bdi>
              <Link url={url} text={cutText(name ?? url ?? "", 300)} />
            </bdi>{" "}
            <AttachmentFacts {...each} />
            {since !== null && (
              <span class="quiet">
                since <Exact at={since} />
              </span>
            )}
          </li>
        ))}
        {gone.map(({ name, url, removed_at, ...each }, n) => (
          <li key={n} class="quiet">
            <s>
              <bdi>{cutText(name ?? url ?? "", 300)}</bdi>
            </s>{" "}
            <AttachmentFacts {...each} />
            removed <Exact at={removed_at} />
          </li>
        ))}
        {more > 0 && <li class="quiet">{more} more</li>}
      </ul>
    </section>
  );
}

function AttachmentFacts(attachment: Parameters<typeof attachmentInWords>[0]) {
  const words = attachmentInWords(attachment);
  return words === "" ? null : <span class="quiet">{cutText(words, 100)} </span>;
}

/** A link if the address is one of the web, else its text. */
function Link({ url, text }: { url: string | null; text: string }) {
  const address = webAddress(url);
  return address === undefined ? (
    text
  ) : (
    <a href={address} rel="noreferrer external">
      {text}
    </a>
  );
}

function Paragraphs({ text }: { text: string | null }) {
  const paragraphs = plainParagraphs(cutText(text ?? "", TEXT_MAX));
  if (paragraphs.length === 0) return <p class="quiet">Not stated.</p>;
  return (
    <>
      {paragraphs.map((paragraph, n) => (
        <p key={n} dir="auto">
          {paragraph}
        </p>
      ))}
    </>
  );
}

type TimelineProps = { history: History; address: (query: UrlQuery) => string; now: EpochMs };

function Timeline({ history: { events, next, isFirst }, address, now }: TimelineProps) {
  return (
    <>
      {!isFirst && (
        <p>
          <a href={`${address({})}#history`}>Newest changes</a>
        </p>
      )}
      <ol class="timeline">
        {events.map((event) => (
          <TimelineEntry key={event.id} event={event} now={now} />
        ))}
      </ol>
      {next !== undefined && (
        <p>
          <a href={`${address({ after: next })}#history`}>Earlier changes</a>
        </p>
      )}
    </>
  );
}
