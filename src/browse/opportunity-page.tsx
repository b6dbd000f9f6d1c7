/** @jsxImportSource hono/jsx */
/** The page of one opportunity, now or as of an earlier instant: its dates, all its fields, its history, and similar ones. */
import type { Child } from "hono/jsx";
import { type AttachmentInWords, attachmentsInWords, datedAttachments } from "../events/attachments.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { historyPage } from "../events/history.ts";
import { movedDeadlines } from "../events/moved-deadlines.ts";
import { factsOf, type RelatedRecords, recordInWords } from "../facts/facts.ts";
import { dueOf } from "../opportunities/due.ts";
import { numberInWords, numberOf, type Sidecar, type WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import type { Belonging } from "../opportunities/related.ts";
import { erasedInWords } from "../past/as-of.ts";
import { readShown, type ShownRecord } from "../past/whole.ts";
import { SIMILAR_ENDED_EARLY, searchBudget } from "../search/budget.ts";
import { decodePlace, encodePlace } from "../search/cursor.ts";
import { findSimilar, relationsIn, type Similar } from "../search/similar.ts";
import { capitalized, withCommas } from "../text/in-words.ts";
import { dateAt, type EpochMs, formatInstant } from "../text/instant.ts";
import { AS_OF, isRelativeMoment, readMoment } from "../text/moment.ts";
import { plainParagraphs, plainText, withoutBullet } from "../text/plain-text.ts";
import { BadValue } from "../text/read-value.ts";
import { UUID } from "../text/uuid.ts";
import { webAddress } from "../text/web-address.ts";
import { followedBy } from "../watch/member-watches.ts";
import { listMuted, watchesOf } from "../watch/watches.ts";
import { Dates } from "./date-line.tsx";
import { FactLists } from "./facts.tsx";
import { TimelineEntry } from "./history.tsx";
import { cutText, DueLine, Exact, ExternalLink, MoreItems, Section, StatusBadge, TitleLink } from "./marks.tsx";
import { type BrowsePage, opportunityAddress, type PageContext } from "./page.ts";
import { TITLE_MAX } from "./results.tsx";
import { FollowForm } from "./watch-fields.tsx";

const PARTS_OPEN = 5;
const EVENTS = 50;
const TEXT_MAX = 100_000;
const ATTACHMENTS_MAX = 100;
const LONG = 150;
const SIMILAR_MAX = 5;

/** The page, or undefined if there is no such opportunity. `id` is null if the address has malformed percent-encoding. */
export async function opportunityPage(context: PageContext, id: string | null): Promise<BrowsePage | undefined> {
  const { catalog, index, now, query } = context;
  if (id === null || !UUID.test(id)) return undefined;
  const [opportunity] = await readOpportunities(catalog, [id.toLowerCase()], now);
  if (opportunity === undefined) return undefined;
  const given = query.getAll("as_of");
  const asOf = readAsOf(given, now);
  const address = opportunityAddress(opportunity.id);
  if (asOf instanceof BadValue) return noPastPage(400, "No such day", `“${cutText(given.join(","), 100)}” ${asOf.message}.`, address);
  // An address with a relative time redirects to one with the timestamp, which stays valid.
  if (asOf !== null && query.get("as_of") !== asOf.given) return { location: opportunityAddress(opportunity.id, asOf.given) };
  const shown = await readShown(catalog, opportunity, { now, asOf: asOf?.at });
  if ("unknown" in shown) {
    const reason = ["As of ", <Exact at={formatInstant(asOf?.at ?? now)} />, ` it is not known: ${shown.unknown}.`];
    return noPastPage(404, "Not known", reason, address);
  }
  const { record } = shown;
  const { title } = record.opportunity;
  const history = historyAt(record.history, opportunity.id, query.get("after"), asOf?.at ?? now);
  if (asOf === null) {
    const similar = await findSimilar(catalog, index, opportunity, SIMILAR_MAX, now, searchBudget());
    const reader = context.member && (await readerOf(context.member));
    return { title: cutText(title, 120), section: "find", body: <OpportunityBody {...{ record, similar, history, now, reader }} /> };
  }
  const body = (
    <>
      <PastNote at={asOf.at} address={address} unknown={record.erased === null ? undefined : erasedInWords(record.erased)} />
      <OpportunityBody {...{ record, history, asOf: asOf.given }} now={asOf.at} />
    </>
  );
  return { title: `${cutText(title, 120)} as of ${dateAt(asOf.at)}`, section: "find", body };
}

type Reader = { follows: ReadonlySet<string>; muted: ReadonlySet<string> | undefined };

async function readerOf({ id, watches }: NonNullable<PageContext["member"]>): Promise<Reader> {
  const own = await watchesOf(watches, id);
  const muted = (await Promise.all(own.map((watch) => listMuted(watches, watch)))).flat();
  return { follows: new Set(await followedBy(watches, id)), muted: own.length === 0 ? undefined : new Set(muted.map((each) => each.id)) };
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

type BodyProps = {
  record: ShownRecord;
  similar?: Similar;
  history: History;
  now: EpochMs;
  reader?: Reader | undefined;
  /** The instant in the address of a page of the past. Its links to other opportunities have it, too. */
  asOf?: string;
};

function OpportunityBody({ record, similar, history, now, reader, asOf }: BodyProps) {
  const { opportunity, duplicates, belonging, earlierAwards } = record;
  const followedId = [opportunity, ...duplicates].find(({ id }) => reader?.follows.has(id))?.id;
  const due = dueOf(opportunity, now, duplicates);
  const facts = factsOf(opportunity, { ...belonging, duplicates, earlierAwards }, now);
  const attachments = attachmentsInWords(datedAttachments(opportunity.sidecar.attachments, record.history));
  const { title, status, status_display, source, description, summary, eligibility } = opportunity;
  const { questions } = opportunity.sidecar;
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
          <DueLine due={due} now={now} />
        </p>
        <p class="line">
          {upstream !== undefined && (
            <ExternalLink class="button" url={upstream}>
              Open at {new URL(upstream).hostname}
            </ExternalLink>
          )}
          <a href="#history">What changed</a>
        </p>
        {reader && (
          <FollowForm
            id={followedId ?? opportunity.id}
            isFollowed={followedId !== undefined}
            isMuted={reader.muted?.has(followedId ?? opportunity.id)}
            back={opportunityAddress(opportunity.id)}
          />
        )}
      </header>
      <Dates opportunity={opportunity} due={due} moved={movedDeadlines(opportunity, record.history)} now={now} />
      <LinkedRecords opportunity={opportunity} related={{ ...belonging, duplicates }} asOf={asOf} />
      <div class="columns">
        <FactLists label="Contact and awards" facts={facts} groups={["offered by", "offers", "won", "won before"]} asOf={asOf} />
        <div class="main">
          <Section class="prose" id="description" title="Description">
            <Paragraphs text={description ?? summary} />
          </Section>
          {attachments.length > 0 && <Attachments attachments={attachments} />}
          {questions.length > 0 && <Questions questions={questions} />}
          {eligibility.requirements !== null && (
            <Section class="prose" id="eligibility" title="Eligibility">
              <Paragraphs text={eligibility.requirements} />
            </Section>
          )}
          <Section id="history" title="History">
            <Timeline id={opportunity.id} history={history} asOf={asOf} now={now} />
            <AsOfForm address={opportunityAddress(opportunity.id)} />
          </Section>
          {similar !== undefined && <SimilarOnes similar={similar} now={now} />}
        </div>
        <FactLists label="Codes and record" facts={facts} groups={["for", "record"]} asOf={asOf} />
      </div>
    </article>
  );
}

type LinkedProps = { opportunity: WholeOpportunity; related: RelatedRecords & Belonging; asOf: string | undefined };

function LinkedRecords({ opportunity, related: { duplicates, parent, parts, total }, asOf }: LinkedProps) {
  if (duplicates.length + parts.length === 0 && parent === undefined) return null;
  const { canonical_id } = opportunity.relationships;
  return (
    <section class="linked" aria-label="Related records">
      {duplicates.length + (parent === undefined ? 0 : 1) > 0 && (
        <ul>
          {duplicates.map((duplicate) => (
            <LinkedRecord
              key={duplicate.id}
              relation={duplicate.id === canonical_id ? "Canonical record" : "The same opportunity"}
              record={duplicate}
              asOf={asOf}
            />
          ))}
          {parent !== undefined && <LinkedRecord relation="Belongs to" record={parent} asOf={asOf} />}
        </ul>
      )}
      {parts.length > 0 && (
        <details open={parts.length <= PARTS_OPEN}>
          <summary>Parts and later stages ({withCommas(total)})</summary>
          <ul>
            {parts.map((part) => (
              <LinkedRecord key={part.id} record={part} asOf={asOf} />
            ))}
            <MoreItems count={total - parts.length} />
          </ul>
        </details>
      )}
    </section>
  );
}

function LinkedRecord({ relation, record, asOf }: { relation?: string; record: WholeOpportunity; asOf: string | undefined }) {
  return (
    <li>
      {relation !== undefined && `${relation}: `}
      <TitleLink id={record.id} title={record.title} max={200} asOf={asOf} />{" "}
      <span class="quiet">{cutText(recordInWords(record), 300)}</span>
    </li>
  );
}

function Attachments({ attachments }: { attachments: readonly AttachmentInWords[] }) {
  const shown = attachments.slice(0, ATTACHMENTS_MAX);
  return (
    <Section id="attachments" title="Attachments and links">
      <ul>
        {shown.map(({ name, url, about, dated, isRemoved }) => (
          <li class={isRemoved ? "quiet" : undefined}>
            <bdi>{isRemoved ? <s>{cutText(name, 300)}</s> : <ExternalLink url={url}>{cutText(name, 300)}</ExternalLink>}</bdi>{" "}
            <span class="quiet">{[cutText(about, 100), dated].filter((each) => each !== "").join("; ")}</span>
          </li>
        ))}
        <MoreItems count={attachments.length - shown.length} />
      </ul>
    </Section>
  );
}

function Questions({ questions }: { questions: Sidecar["questions"] }) {
  const shown = questions.slice(0, ATTACHMENTS_MAX);
  return (
    <Section id="questions" title="Questions and answers">
      {shown.map(({ question, answer }) => (
        <details>
          <summary dir="auto">{cutText(plainText(question ?? ""), 1000)}</summary>
          <Paragraphs text={answer} />
        </details>
      ))}
      {questions.length > shown.length && <p class="quiet">{questions.length - shown.length} more</p>}
    </Section>
  );
}

function Paragraphs({ text }: { text: string | null }) {
  const paragraphs = plainParagraphs(cutText(text ?? "", TEXT_MAX));
  if (paragraphs.length === 0) return <p class="quiet">Not stated.</p>;
  const blocks: { isList: boolean; texts: string[] }[] = [];
  for (const paragraph of paragraphs) {
    const item = withoutBullet(paragraph);
    const isList = item !== undefined;
    if (isList && blocks.at(-1)?.isList === true) blocks.at(-1)?.texts.push(item);
    else blocks.push({ isList, texts: [item ?? paragraph] });
  }
  return (
    <>
      {blocks.map(({ isList, texts }, n) =>
        isList ? (
          <ul key={n}>
            {texts.map((item, at) => (
              <li key={at} dir="auto">
                {item}
              </li>
            ))}
          </ul>
        ) : (
          <p key={n} dir="auto">
            {texts}
          </p>
        ),
      )}
    </>
  );
}

type TimelineProps = { id: string; history: History; asOf: string | undefined; now: EpochMs };

function Timeline({ id, history: { events, next, isFirst }, asOf, now }: TimelineProps) {
  return (
    <>
      {!isFirst && (
        <p>
          <a href={`${opportunityAddress(id, asOf)}#history`}>Newest changes</a>
        </p>
      )}
      <ol class="timeline">
        {events.map((event) => (
          <TimelineEntry key={event.id} event={event} now={now} />
        ))}
      </ol>
      {next !== undefined && (
        <p>
          <a href={`${opportunityAddress(id, asOf, next)}#history`}>Earlier changes</a>
        </p>
      )}
    </>
  );
}

type AsOf = { given: string; at: EpochMs };

/** The instant in an address; null if there is none; a message if it is not an instant of the past. */
function readAsOf(given: readonly string[], now: EpochMs): AsOf | BadValue | null {
  const text = given.filter((each) => each.trim() !== "").join(","); // Several values are not a date, so they are refused.
  if (text === "") return null;
  try {
    const at = readMoment(text, now, AS_OF);
    return { given: isRelativeMoment(text) ? formatInstant(at) : text, at };
  } catch (error) {
    if (error instanceof BadValue) return error;
    throw error;
  }
}

/** The page that is shown if the instant is not in the past, or if the opportunity, at this address, was not known then. */
function noPastPage(status: 400 | 404, title: string, reason: Child, address: string): BrowsePage {
  const body = (
    <>
      <h1>{title}</h1>
      <p>
        {reason} <a href={address}>{SHOW_NOW}</a>
      </p>
      <AsOfForm address={address} />
    </>
  );
  return { title, section: "find", status, body };
}

const SHOW_NOW = "Show it as it is now";

/** The line above a page of the past. `address` shows the same page as it is now. `unknown`: which data of that time is missing. */
function PastNote({ at, address, unknown }: { at: EpochMs; address: string; unknown: string | undefined }) {
  return (
    <p class="past-note" role="note">
      As it was on <Exact at={formatInstant(at)} />
      {unknown !== undefined && `; ${unknown}`}. <a href={address}>{SHOW_NOW}</a>
    </p>
  );
}

function AsOfForm({ address }: { address: string }) {
  return (
    <form action={address} class="as-of">
      <label>
        As it was at the beginning of <input type="date" name="as_of" required />
      </label>{" "}
      <button type="submit" data-second>
        Show
      </button>
    </form>
  );
}

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
