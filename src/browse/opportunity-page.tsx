/** @jsxImportSource hono/jsx */
/** The page of one opportunity: all its fields, and its history. */
import type { Child } from "hono/jsx";
import type { CatalogDb } from "../../db/engine.ts";
import { type DatedAttachment, datedAttachments } from "../events/attachments.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { readHistory } from "../events/history.ts";
import { listOpportunityEvents } from "../events/list.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import type { Position } from "../opportunities/page.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { type Belonging, readBelonging, readTwins } from "../opportunities/related.ts";
import { decodePlace, encodePlace } from "../search/cursor.ts";
import { numberInWords } from "../search/number.ts";
import { type EpochMs, parseStoredMs } from "../text/instant.ts";
import { plainParagraphs, plainText } from "../text/plain-text.ts";
import { webAddress } from "../text/web-address.ts";
import { addressOf, opportunityAddress } from "./addresses.ts";
import { TITLE_MAX } from "./find-page.tsx";
import { TimelineEntry } from "./history.tsx";
import { awardsInWords, cutText, Fact, StatusBadge } from "./marks.tsx";
import type { BrowsePage, PageContext } from "./page.ts";
import { Due, Exact, Relative } from "./times.tsx";

/** More parts are shown when the reader asks for them. */
const PARTS_OPEN = 5;
/** Events on a page of the history. */
const EVENTS = 50;
const UUID = /^[0-9a-f-]{36}$/i;
/** Characters of a text: longer ones are cut, so that no page is too heavy for a phone. */
const [TEXT_MAX, FACT_MAX] = [100_000, 3000];

/** The page, or undefined if there is no such opportunity. `id` is null if the address has malformed percent-encoding. */
export async function opportunityPage({ catalog, now, query }: PageContext, id: string | null): Promise<BrowsePage | undefined> {
  if (id === null || !UUID.test(id)) return undefined;
  const [opportunity] = await readOpportunities(catalog, [id.toLowerCase()], now);
  if (opportunity === undefined) return undefined;
  const attachments = await readAttachments(catalog, opportunity);
  const history = await readHistoryPage(catalog, opportunity.id, query.get("after"), now);
  const linked = await readLinked(catalog, opportunity, now);
  return {
    title: cutText(opportunity.title, 120),
    section: "find",
    body: <OpportunityBody opportunity={opportunity} attachments={attachments} linked={linked} history={history} now={now} />,
  };
}

type History = { events: OpportunityEvent[]; next: string | undefined; isFirst: boolean };

async function readHistoryPage(catalog: CatalogDb, id: string, cursor: string | null, now: EpochMs): Promise<History> {
  const [time, event] = cursor === null ? [] : decodePlace(id, cursor).keys;
  const after: Position | null = event === undefined ? null : { time: Number(time), id: String(event) };
  const page = await listOpportunityEvents({ db: catalog }, id, { include_insignificant: true }, EVENTS, after);
  const events = (page?.documents ?? []).map((document) => JSON.parse(new TextDecoder().decode(document)) as OpportunityEvent);
  const next = page?.next ?? null;
  return { events, next: next === null ? undefined : encodePlace(id, { now, keys: [next.time, next.id] }), isFirst: after === null };
}

/** The same opportunity in other sources, the one that it belongs to, and those that belong to it. */
type Linked = Belonging & { twins: readonly WholeOpportunity[] };

async function readLinked(catalog: CatalogDb, opportunity: WholeOpportunity, now: EpochMs): Promise<Linked> {
  const twins = (await readTwins(catalog, [opportunity.id], now)).get(opportunity.id) ?? [];
  return { twins, ...(await readBelonging(catalog, opportunity, now)) };
}

async function readAttachments(catalog: CatalogDb, { id, sidecar }: WholeOpportunity): Promise<DatedAttachment[]> {
  return sidecar.attachments.length === 0 ? [] : datedAttachments(sidecar.attachments, await readHistory(catalog, id));
}

type BodyProps = { opportunity: WholeOpportunity; attachments: readonly DatedAttachment[]; linked: Linked; history: History; now: EpochMs };

function OpportunityBody({ opportunity, attachments, linked, history, now }: BodyProps) {
  const { title, status, status_display, source, description, summary, eligibility } = opportunity;
  const upstream = webAddress(source.url);
  return (
    <article class="opportunity">
      <header>
        <p class="kicker">
          {cutText(numberInWords(opportunity), 200)} · {cutText(source.name, 200)}
        </p>
        <h1>{cutText(title, TITLE_MAX)}</h1>
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
      <LinkedRecords opportunity={opportunity} linked={linked} />
      <div class="columns">
        <div class="main">
          <section class="prose" aria-labelledby="description">
            <h2 id="description">Description</h2>
            <Paragraphs text={description ?? summary} />
          </section>
          <section aria-labelledby="history">
            <h2 id="history">History</h2>
            <Timeline history={history} id={opportunity.id} now={now} />
          </section>
          {attachments.length > 0 && <Attachments attachments={attachments} />}
          {eligibility.requirements !== null && (
            <section class="prose" aria-labelledby="eligibility">
              <h2 id="eligibility">Eligibility</h2>
              <Paragraphs text={eligibility.requirements} />
            </section>
          )}
        </div>
        <aside aria-label="Facts">
          <Facts opportunity={opportunity} now={now} />
        </aside>
      </div>
    </article>
  );
}

function LinkedRecords({ opportunity, linked: { twins, parent, parts, total } }: { opportunity: WholeOpportunity; linked: Linked }) {
  if (twins.length + parts.length === 0 && parent === undefined) return null;
  const { canonical_id } = opportunity.relationships;
  return (
    <section class="linked" aria-label="Related records">
      <ul>
        {twins.map((twin) => (
          <LinkedRecord key={twin.id} relation={twin.id === canonical_id ? "Canonical record" : "The same opportunity"} record={twin} />
        ))}
        {parent !== undefined && <LinkedRecord relation="Belongs to" record={parent} />}
      </ul>
      {parts.length > 0 && (
        <details open={parts.length <= PARTS_OPEN}>
          <summary>Parts and later stages ({total.toLocaleString("en-US")})</summary>
          <ul>
            {parts.map((part) => (
              <LinkedRecord key={part.id} relation={numberInWords(part)} record={part} />
            ))}
            {total > parts.length && <li class="quiet">{(total - parts.length).toLocaleString("en-US")} more</li>}
          </ul>
        </details>
      )}
    </section>
  );
}

function LinkedRecord({ relation, record: { id, title, source, status } }: { relation: string; record: WholeOpportunity }) {
  return (
    <li>
      {cutText(relation, 200)} at {cutText(source.name, 200)}: <a href={opportunityAddress(id)}>{cutText(title, 200)}</a>{" "}
      <StatusBadge status={status} />
    </li>
  );
}

function Attachments({ attachments }: { attachments: readonly DatedAttachment[] }) {
  const shown = attachments.slice(0, CODES_MAX);
  return (
    <section aria-labelledby="attachments">
      <h2 id="attachments">Attachments and links</h2>
      <ul>
        {shown.map(({ name, url, since }, n) => (
          <li key={n}>
            <Link url={url} text={cutText(name ?? url ?? "", 300)} />{" "}
            {since !== null && (
              <span class="quiet">
                since <Exact at={since} />
              </span>
            )}
          </li>
        ))}
        {attachments.length > shown.length && <li class="quiet">{attachments.length - shown.length} more</li>}
      </ul>
    </section>
  );
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
        <p key={n}>{paragraph}</p>
      ))}
    </>
  );
}

function Timeline({ history: { events, next, isFirst }, id, now }: { history: History; id: string; now: EpochMs }) {
  return (
    <>
      {!isFirst && (
        <p>
          <a href={`${opportunityAddress(id)}#history`}>Newest changes</a>
        </p>
      )}
      <ol class="timeline">
        {events.map((event) => (
          <TimelineEntry key={event.id} event={event} now={now} />
        ))}
      </ol>
      {next !== undefined && (
        <p>
          <a href={`${addressOf(opportunityAddress(id), { after: next })}#history`}>Earlier changes</a>
        </p>
      )}
    </>
  );
}

/** Every field that is stated. */
function Facts({ opportunity, now }: { opportunity: WholeOpportunity; now: EpochMs }) {
  const { dates, organization, program, funding, classifications, eligibility, contacts, source, id, sidecar } = opportunity;
  const { award } = sidecar;
  return (
    <>
      <FactList title="Dates">
        {sidecar.due_dates.length > 1 && <DueDates dueDates={sidecar.due_dates} now={now} />}
        <FactTime name="Closes" at={dates.closes_at} />
        <FactTime
          name="Responses due"
          at={sidecar.due_dates.length > 1 || dates.response_at === dates.closes_at ? null : dates.response_at}
        />
        <FactTime name="Expires" at={sidecar.expires_at} />
        <FactTime name="Opens" at={dates.opens_at} />
        <FactTime name="Posted" at={dates.posted_at} />
        <Fact name="Last change here">
          <Relative at={opportunity.updated_at} now={now} />, <Exact at={opportunity.updated_at} />
        </Fact>
        <FactTime name="First stored" at={opportunity.created_at} />
      </FactList>
      <FactList title="Who offers it">
        <FactText name="Agency" text={organization.agency} filter="agency" />
        <FactText name="Sub-agency" text={organization.sub_agency} filter="agency" />
        <FactText name="Office" text={organization.issuing_office} />
        <FactContacts contacts={contacts} />
      </FactList>
      <FactList title="What it offers">
        <FactText name="Awards" text={awardsInWords(funding) ?? null} />
        <FactText name="Funding" text={funding?.display ?? null} />
        <FactText name="Program type" text={program.type} filter="program_type" />
        <FactText name="Kind" text={program.contract_class} />
        <FactText name="Solicitation" text={program.solicitation_id} />
        <FactText name="Solicitation title" text={program.solicitation_title} />
      </FactList>
      {award !== null && (
        <FactList title="Who won">
          <FactText name="Awardee" text={award.awardee} />
          <FactText name="Award" text={award.number} />
          <FactText name="Awarded" text={award.date} />
        </FactList>
      )}
      <FactList title="For whom">
        <FactText name="Place" text={eligibility.geographic_scope} />
        <FactCodes name="Set-aside" codes={classifications.set_aside_types} filter="set_aside" />
        <FactCodes name="NAICS" codes={classifications.naics_codes} filter="naics" />
        <FactCodes name="Other codes" codes={classifications.tech_taxonomy} />
        <FactCodes name="Technology areas" codes={classifications.technology_areas} />
        <FactCodes name="Keywords" codes={classifications.keywords} />
      </FactList>
      <FactList title="Record">
        <FactText name="Source" text={`${source.name} (${source.code})`} filter="source" value={source.code} />
        <FactText name="Id at the source" text={source.opportunity_id} />
        <FactText name="Address at the source" text={source.url} />
        <FactText name="Id" text={id} />
      </FactList>
    </>
  );
}

/** All due dates in the upstream's order, those that have passed struck out. */
function DueDates({ dueDates, now }: { dueDates: WholeOpportunity["sidecar"]["due_dates"]; now: EpochMs }) {
  return (
    <Fact name="Due dates">
      <ul class="due-dates">
        {dueDates.map(({ at, words }) => (
          <li key={at}>
            {(parseStoredMs(at) ?? now) < now ? (
              <s>
                <Exact at={at} />
              </s>
            ) : (
              <Exact at={at} />
            )}
            {words !== null && ` ${cutText(words, 100)}`}
          </li>
        ))}
      </ul>
    </Fact>
  );
}

function FactList({ title, children }: { title: string; children: Child }) {
  return (
    <section class="fact-list">
      <h2>{title}</h2>
      <dl>{children}</dl>
    </section>
  );
}

function FactTime({ name, at }: { name: string; at: string | null }) {
  return at === null ? null : (
    <Fact name={name}>
      <Exact at={at} />
    </Fact>
  );
}

/** A text, which leads to the opportunities with the same value if a filter finds them. */
function FactText({ name, text, filter, value = text }: { name: string; text: string | null; filter?: string; value?: string | null }) {
  const plain = cutText(plainText(text ?? ""), FACT_MAX);
  return plain === "" ? null : (
    <Fact name={name}>{filter === undefined ? plain : <FilterLink filter={filter} value={value ?? ""} text={plain} />}</Fact>
  );
}

function FilterLink({ filter, value, text }: { filter: string; value: string; text: string }) {
  return <a href={addressOf("/", { [filter]: value.slice(0, 200) })}>{text}</a>;
}

/** `filter` is the filter that finds other opportunities with such a code. */
function FactCodes({ name, codes, filter }: { name: string; codes: readonly string[]; filter?: string }) {
  if (codes.length === 0) return null;
  const shown = codes.slice(0, CODES_MAX);
  return (
    <Fact name={name}>
      <ul class="codes">
        {shown.map((code) => (
          <li key={code}>
            {filter === undefined ? cutText(code, 200) : <FilterLink filter={filter} value={code} text={cutText(code, 200)} />}
          </li>
        ))}
        {codes.length > shown.length && <li class="quiet">{codes.length - shown.length} more</li>}
      </ul>
    </Fact>
  );
}

const CODES_MAX = 100;

function FactContacts({ contacts }: { contacts: WholeOpportunity["contacts"] }) {
  return (
    <>
      {contacts.slice(0, CODES_MAX).map((contact, n) => (
        <FactText key={n} name="Contact" text={[contact.name, contact.role, contact.email, contact.phone].filter(Boolean).join(", ")} />
      ))}
    </>
  );
}
