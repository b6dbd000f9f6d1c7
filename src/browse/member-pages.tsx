/** @jsxImportSource hono/jsx */
/** The pages of members: their watches, a new one, and what they follow. They only read; every form goes to the process that listens. */
import type { Child } from "hono/jsx";
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import { type FeedPosition, latestPosition } from "../events/feed.ts";
import { describeFilter } from "../filter/filter.ts";
import { IDS_MAX } from "../filter/kinds.ts";
import { dueOf } from "../opportunities/due.ts";
import { numberOf } from "../opportunities/number.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { search } from "../search/search.ts";
import { capitalized } from "../text/capitalized.ts";
import { counted, withCommas } from "../text/counted.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { differenceOf, type Matching, matchingEach, matchingIds, watchedInWords } from "../watch/matching.ts";
import type { ChannelHost } from "../watch/member-channel.ts";
import { followingOf, LIMITS, ownWatch } from "../watch/member-watches.ts";
import { countsInWords } from "../watch/message.ts";
import { listDeliveries, watchStatusOf } from "../watch/pending.ts";
import { countMatched } from "../watch/position.ts";
import { nextMessageAt } from "../watch/run.ts";
import { SAMPLE, testMessage } from "../watch/test-message.ts";
import { volumeInWords, volumeOf } from "../watch/volume.ts";
import type { Watch, WatchDefinition } from "../watch/watch.ts";
import { scheduleInWords } from "../watch/watch-form.ts";
import { listMuted, watchesOf } from "../watch/watches.ts";
import { addressOf, opportunityAddress } from "./addresses.ts";
import { Fact, StatusBadge } from "./marks.tsx";
import { allSourcesField } from "./own-fields.ts";
import type { BrowsePage, PageContext } from "./page.ts";
import { readSearchForm, SearchFields, type SearchForm, tidyAddress } from "./search-form.tsx";
import { DueLine, Relative } from "./times.tsx";
import { Action, FollowForm, Refusal, type SentForm, WatchFields } from "./watch-fields.tsx";

export type MemberContext = Omit<PageContext, "member"> & {
  watches: WatchDb;
  member: string;
  sent: SentForm | undefined;
  hosts: readonly ChannelHost[];
};

/** An id that no opportunity has, for a list of none. */
export const NO_ID = "00000000-0000-0000-0000-000000000000";

const DONE: Readonly<Record<string, string>> = {
  saved: "Saved. You get a mail when something changes, but not about what matches already.",
  changed: "Changed. It goes on where it was.",
  pause: "Paused.",
  resume: "Resumed: it goes on where it was.",
  removed: "Removed.",
  test: "A test is on its way.",
  unmute: "Reported again.",
};

/** A page of members. Above its content it confirms the action that redirected here. */
function pageWith(
  { query, sent }: Pick<MemberContext, "query" | "sent">,
  section: "watches" | "following",
  title: string,
  content: Child,
): BrowsePage {
  const done = DONE[query.get("done") ?? ""];
  const body = (
    <>
      <h1>{title}</h1>
      {done !== undefined && (
        <p class="past-note" role="status">
          {done}
        </p>
      )}
      {content}
    </>
  );
  return { title, section, ...(sent && { status: 400 }), body };
}

export async function watchesPage(context: MemberContext): Promise<BrowsePage> {
  const { watches, member, now } = context;
  const own = (await watchesOf(watches, member)).filter(({ definition }) => !definition.follows);
  const cards = await Promise.all(own.map(async (watch) => ({ watch, state: await stateOf(watches, watch) })));
  const content =
    own.length === 0 ? (
      <p class="empty">
        No watches yet. A watch is a search that mails you what is new and what changes. <a href="/">Search</a>, and press “Mail me what
        changes” above the results.
      </p>
    ) : (
      <ul class="sources">
        {cards.map(({ watch, state }) => (
          <li class="card" key={watch.name}>
            <h2>
              <a href={`/watches/${watch.name}`}>{watch.definition.title ?? watch.name}</a>{" "}
              <small>{watchedInWords(watch.definition, now)}</small>
            </h2>
            <StateFacts watch={watch} state={state} now={now} />
          </li>
        ))}
      </ul>
    );
  return pageWith(context, "watches", "My watches", content);
}

type State = Awaited<ReturnType<typeof stateOf>>;

async function stateOf(watches: WatchDb, watch: Watch) {
  return { ...(await watchStatusOf(watches, watch)), matching: await countMatched(watches, watch) };
}

/** The state of a watch, on the list and on its own page. */
function StateFacts({ watch: { definition }, state, now }: { watch: Watch; state: State; now: EpochMs }) {
  const at = (instant: EpochMs) => <Relative at={formatInstant(instant)} now={now} />;
  const next = nextMessageAt(definition, state, now);
  const what = nounOf(definition);
  return (
    <>
      <Trouble state={state} what={what} />
      <dl class="figures">
        <Fact name="Matching">{withCommas(state.matching)}</Fact>
        {definition.receiver.to === "channel" && <Fact name="Channel">Teams, by {definition.receiver.host}</Fact>}
        <Fact name={`${what}s`}>{capitalized(scheduleInWords(definition))}</Fact>
        <Fact name={`${what}s so far`}>{withCommas(state.delivered_total)}</Fact>
        <Fact name={`Last ${what.toLowerCase()}`}>{state.delivered_at === null ? "none yet" : at(state.delivered_at)}</Fact>
        {next !== undefined && <Fact name={`Next ${what.toLowerCase()}`}>{next <= now ? "soon" : at(next)}</Fact>}
      </dl>
    </>
  );
}

function nounOf({ receiver }: WatchDefinition): string {
  return receiver.to === "channel" ? "Message" : "Mail";
}

function Trouble({ state: { paused, pending }, what }: { state: Pick<State, "paused" | "pending">; what: string }) {
  if (paused !== null) return <p class={pending?.attempts.error ? "error" : "quiet"}>Paused: {paused}.</p>;
  return pending?.attempts.error ? (
    <p class="error">
      The last {what.toLowerCase()} was not accepted: {pending.attempts.error}.
    </p>
  ) : null;
}

/** The form of a watch before it is saved: what it means, and how much it would have sent. */
export async function newWatchPage(context: MemberContext): Promise<BrowsePage> {
  const { catalog, index, now, sent, hosts } = context;
  const form = await readSearchForm(context, { all_sources: allSourcesField });
  const isWrong = form.errors.size > 0;
  if (isWrong && sent === undefined) return { location: `/?${context.query}` };
  const about = aboutOf(form);
  const matching = isWrong ? [] : await matchingIds(catalog, index, about, now);
  const title = cutAtWord(form.filter.words ?? describeFilter(form.filter, now)[0] ?? "All opportunities");
  const definition = { title, at_least: "material" as const, zone: "America/New_York", every: "day 08:00" };
  const content = (
    <>
      {!isWrong && <p class="lead">{await meaningOf(catalog, about, matching, now)}</p>}
      <p>You get a mail when one is new, when one changes, and when one no longer matches, but not about what matches already.</p>
      {matching.length > LIMITS.matching && <p class="error">{tooMany(matching.length)}</p>}
      <form class="sign-in" method="post" action="/watches">
        <input type="hidden" name="query" value={queryOf(form)} />
        <WatchFields definition={definition} sent={sent} hosts={hosts} />
        <button type="submit">Save</button>
      </form>
    </>
  );
  return pageWith(context, "watches", "Mail me what changes", content);
}

/** "status open: 82 now; about 5 mails a month …, judged by the last 90 days." */
async function meaningOf(catalog: CatalogDb, about: Matching, matching: readonly string[], now: EpochMs): Promise<string> {
  const volume = volumeInWords(await volumeOf(catalog, matching, { at_least: "material", ...about }, now));
  return `${capitalized(watchedInWords(about, now))}: ${withCommas(matching.length)} now${volume === "" ? "" : `; ${volume}`}.`;
}

function aboutOf({ filter, allSources }: SearchForm): Matching {
  return { filter, ...(allSources && { all_sources: true as const }) };
}

function queryOf({ given }: SearchForm): string {
  return addressOf("", given).replace(/^\?/, "");
}

function tooMany(count: number): string {
  return `This search matches ${withCommas(count)} opportunities; a watch can have ${withCommas(LIMITS.matching)}. Add words or filters.`;
}

/** A suggested name. */
function cutAtWord(text: string): string {
  const plain = text.replaceAll('"', "");
  return plain.length <= 60 ? plain : plain.slice(0, 61).replace(/\s*\S*$/, "");
}

/** The search of a watch in a form, and the matches that a changed search would add and remove. */
export async function watchSearchPage(context: MemberContext, name: string): Promise<BrowsePage | undefined> {
  const { watches, member, catalog, index, now, query, sent } = context;
  const action = `/watches/${name}/search`;
  const watch = await ownWatch(watches, member, name);
  if (watch === undefined || watch.definition.follows) return undefined;
  const location = tidyAddress(action, query);
  if (location !== undefined) return { location };
  if (query.size === 0) return { location: addressOf(action, searchOf(watch.definition)) };
  const form = await readSearchForm(context, { all_sources: allSourcesField });
  const [about, title] = [aboutOf(form), watch.definition.title ?? name];
  const [former = [], matching = []] = form.errors.size > 0 ? [] : await matchingEach(catalog, index, [watch.definition, about], now);
  const { joining, leaving } = differenceOf(former, matching);
  const content = (
    <>
      <SearchFields action={action} form={form} now={now} />
      {form.errors.size === 0 && (
        <section aria-labelledby="means">
          <h2 id="means">What this means</h2>
          <Refusal sent={sent} />
          <p>{await meaningOf(catalog, { ...watch.definition, ...about }, matching, now)}</p>
          <p>
            {counted(joining.length, "opportunity", "opportunities")} more than before, and {withCommas(leaving.length)} no longer. That is
            not mailed; what has changed and was not mailed yet still is.
          </p>
          {matching.length > LIMITS.matching && <p class="error">{tooMany(matching.length)}</p>}
          <form class="sign-in" method="post" action={`/watches/${name}`}>
            <input type="hidden" name="action" value="search" />
            <input type="hidden" name="query" value={queryOf(form)} />
            <button type="submit">Save this search</button>
          </form>
        </section>
      )}
      <p>
        <a href={`/watches/${name}`}>Back to the watch</a>
      </p>
    </>
  );
  const page = pageWith(context, "watches", `Change the search of “${title}”`, content);
  return form.errors.size > 0 ? { ...page, status: 400 } : page;
}

/** The search of a watch as the query of an address. */
function searchOf({ filter, all_sources }: Matching): Record<string, string> {
  const given = Object.fromEntries(Object.entries(filter).map(([field, value]) => [field, `${value}`]));
  return { ...given, ...(all_sources && { all_sources: "yes" }) };
}

/** One watch: its search, the state of its mails, and the available actions. */
export async function watchPage(context: MemberContext, name: string): Promise<BrowsePage | undefined> {
  const { watches, member, catalog, now, sent, hosts } = context;
  const watch = await ownWatch(watches, member, name);
  if (watch === undefined) return undefined;
  const { definition } = watch;
  const title = definition.title ?? name;
  const state = await stateOf(watches, watch);
  const muted = (await listMuted(watches, watch)).map(({ id }) => id);
  const titles = new Map((await readOpportunities(catalog, muted, now)).map((each) => [each.id, each.title]));
  const deliveries = await listDeliveries(watches, name, 10);
  const content = (
    <>
      <p class="lead">
        {capitalized(watchedInWords(definition, now))}.{" "}
        <a href={definition.follows ? "/following" : addressOf("/", searchOf(definition))}>See what matches</a>
        {!definition.follows && (
          <>
            {" · "}
            <a href={addressOf(`/watches/${name}/search`, searchOf(definition))}>Change the search</a>
          </>
        )}
      </p>
      <StateFacts watch={watch} state={state} now={now} />
      <form class="line" method="post" action={`/watches/${name}`}>
        <Action value="test">Send me a test</Action>
        {state.paused === null ? <Action value="pause">Pause</Action> : <Action value="resume">Resume</Action>}
        <Action value="remove">{definition.follows ? "Follow nothing" : "Remove"}</Action>
      </form>
      <section aria-labelledby="change">
        <h2 id="change">Change it</h2>
        <form class="sign-in" method="post" action={`/watches/${name}`}>
          <input type="hidden" name="action" value="edit" />
          <WatchFields definition={{ ...definition, title }} sent={sent} hosts={hosts} />
          <button type="submit">Save</button>
        </form>
      </section>
      {muted.length > 0 && (
        <section aria-labelledby="muted">
          <h2 id="muted">Left out</h2>
          <ul class="changes">
            {muted.map((id) => (
              <li key={id}>
                <form class="line" method="post" action={`/watches/${name}`}>
                  <a href={opportunityAddress(id)}>{titles.get(id) ?? id}</a>
                  <input type="hidden" name="id" value={id} />
                  <Action value="unmute">Report it again</Action>
                </form>
              </li>
            ))}
          </ul>
        </section>
      )}
      {deliveries.length > 0 && (
        <section aria-labelledby="mails">
          <h2 id="mails">Mails</h2>
          <ul class="changes">
            {deliveries.map(({ id, delivered_at, counts }) => (
              <li key={id}>
                <Relative at={formatInstant(delivered_at)} now={now} />: {countsInWords(counts)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
  return pageWith(context, definition.follows ? "following" : "watches", title, content);
}

/** What a member follows, by the next deadline. */
export async function followingPage(context: MemberContext): Promise<BrowsePage> {
  const { watches, member, catalog, index, now } = context;
  const watch = await followingOf(watches, member);
  const ids = watch?.definition.filter.id ?? [];
  const { results } = await search(catalog, index, { filter: { id: [...ids, NO_ID] }, sort: "closes", limit: IDS_MAX }, now);
  const state = watch && (await watchStatusOf(watches, watch));
  const content = (
    <>
      {watch === undefined || results.length === 0 ? (
        <p class="empty">
          You follow nothing yet. <a href="/">Find an opportunity</a>, and press “Follow” on its page: you get a mail when it changes, and
          before it is due.
        </p>
      ) : (
        <>
          <p class="lead">
            {counted(results.length, "opportunity", "opportunities")}, the next deadline first. Mails about changes:{" "}
            {scheduleInWords(watch.definition)}; <a href={`/watches/${watch.name}`}>change or pause them</a>.
          </p>
          {watch && state && <Trouble state={state} what={nounOf(watch.definition)} />}
          <p>
            Take the list along: <a href="/following.csv">CSV</a> · <a href="/following.ics">calendar</a> ·{" "}
            <a href="/following.atom">Atom feed</a> · <a href="/subscribe?following">addresses to subscribe to</a>
          </p>
          <ol class="results">
            {results.map(({ opportunity, duplicates }) => (
              <li class={unendedStatuses.includes(opportunity.status) ? "result" : "result over"} key={opportunity.id}>
                <h2>
                  <a href={opportunityAddress(opportunity.id)}>{opportunity.title}</a>
                </h2>
                <p class="line">
                  <StatusBadge status={opportunity.status} /> <DueLine due={dueOf(opportunity, now, duplicates)} now={now} />
                </p>
                <p class="facts">
                  <span>{numberOf(opportunity)}</span>
                  <span>{opportunity.organization.sub_agency ?? opportunity.organization.agency}</span>
                </p>
                <FollowForm id={opportunity.id} isFollowed={true} back="/following" />
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
  return pageWith(context, "following", "Following", content);
}

/** The beginning of a watch of a search, for the process that stores it; or why the watch is refused. */
export type SearchStart = (Matching & { ids: string[]; feed: FeedPosition; difference: Difference }) | { refused: string };

type Difference = ReturnType<typeof differenceOf>;

/**
 * The current matches of a search, and the end of the feed read before them: whatever is stored between the two reads is reported as new. If a
 * watch gets another search, also the matches that the change adds and removes.
 */
export async function searchStart(context: MemberContext): Promise<SearchStart> {
  const { catalog, index, watches, member, now } = context;
  const query = new URLSearchParams(context.query);
  const of = query.get("of");
  query.delete("of");
  const feed = await latestPosition(catalog);
  const form = await readSearchForm({ ...context, query }, { all_sources: allSourcesField });
  const [refused] = form.errors.values();
  if (refused !== undefined) return { refused: `The search cannot be read. ${refused}` };
  const about = aboutOf(form);
  const watch = of === null ? undefined : await ownWatch(watches, member, of);
  const [ids = [], former = ids] = await matchingEach(catalog, index, [about, ...(watch ? [watch.definition] : [])], now);
  // The process that listens stores them in one transaction, during which it serves no other request.
  if (ids.length > LIMITS.matching) return { refused: tooMany(ids.length) };
  return { ...about, ids, feed, difference: differenceOf(former, ids) };
}

/** A test message of a watch of the member. */
export async function testOf({ watches, member, catalog, index, query, now }: MemberContext): Promise<object | undefined> {
  const watch = await ownWatch(watches, member, query.get("name") ?? "");
  if (watch === undefined) return undefined;
  const ids = await matchingIds(catalog, index, watch.definition, now);
  const sample = await readOpportunities(catalog, ids.slice(-SAMPLE).reverse(), now);
  return testMessage(watch, sample, { now: () => now, randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)) });
}
