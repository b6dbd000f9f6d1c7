/** @jsxImportSource hono/jsx */
/** The pages of members: their watches, a new one, and what they follow. They only read; every form goes to the process that listens. */
import type { Child } from "hono/jsx";
import type { WatchDb } from "../../db/engine.ts";
import { latestPosition } from "../events/feed.ts";
import { describeFilter } from "../filter/filter.ts";
import { IDS_MAX } from "../filter/kinds.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { search } from "../search/search.ts";
import { capitalized, counted, withCommas } from "../text/in-words.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { ellipsized } from "../text/quoted.ts";
import { differenceOf, type Matching, matchingEach, watchedInWords } from "../watch/matching.ts";
import { followingOf, LIMITS, ownWatch } from "../watch/member-watches.ts";
import { countsInWords } from "../watch/message.ts";
import { listDeliveries, watchStatusOf } from "../watch/pending.ts";
import { countMatched } from "../watch/position.ts";
import { nextMessageAt } from "../watch/run.ts";
import { volumeInWords } from "../watch/volume.ts";
import type { Watch, WatchDefinition, WatchStatus } from "../watch/watch.ts";
import { scheduleInWords } from "../watch/watch-form.ts";
import { listMuted, watchesOf } from "../watch/watches.ts";
import { Fact, Relative, Section } from "./marks.tsx";
import { addressOf, type BrowsePage, opportunityAddress, type PageContext } from "./page.ts";
import { Results, withLastChanges } from "./results.tsx";
import { Alert, readSearchForm, SearchFields, tidyAddress } from "./search-form.tsx";
import { FollowForm, PostForm, type SentForm, WatchFields } from "./watch-fields.tsx";

export type MemberContext = Omit<PageContext, "member"> & {
  watches: WatchDb;
  member: string;
  sent: SentForm | undefined;
  hosts: readonly string[];
};

/** An id that no opportunity has, for a list of none. */
export const NO_ID = "00000000-0000-0000-0000-000000000000";

const CHANGED = "Changed. It goes on where it was.";
const DONE: Readonly<Record<string, string>> = {
  saved: "Saved. You get a mail when something changes, but not about what matches already.",
  edit: CHANGED,
  search: CHANGED,
  pause: "Paused.",
  resume: "Resumed: it goes on where it was.",
  remove: "Removed.",
  test: "A test is on its way.",
  unmute: "Reported again.",
};

function pageWith({ query, sent }: MemberContext, section: "watches" | "following", title: string, content: Child): BrowsePage {
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
  const cards = await Promise.all(own.map(async (watch) => ({ watch, facts: await factsOf(context, watch) })));
  const content =
    own.length === 0 ? (
      <p class="empty">
        No watches yet. A watch is a search that mails you what is new and what changes. <a href="/">Search</a>, and press “Mail me what
        changes” above the results.
      </p>
    ) : (
      <ul class="sources">
        {cards.map(({ watch, facts }) => (
          <li class="card">
            <h2>
              <a href={`/watches/${watch.name}`}>{watch.definition.title ?? watch.name}</a>{" "}
              <small>{watchedInWords(watch.definition, now)}</small>
            </h2>
            {facts}
          </li>
        ))}
      </ul>
    );
  return pageWith(context, "watches", "My watches", content);
}

async function factsOf({ watches, now }: MemberContext, watch: Watch) {
  const { definition } = watch;
  const state = await watchStatusOf(watches, watch);
  const at = (instant: EpochMs) => <Relative at={formatInstant(instant)} now={now} />;
  const next = nextMessageAt(definition, state, now);
  const what = nounOf(definition);
  return (
    <>
      {troubleOf(state, definition)}
      <dl class="figures">
        <Fact name="Matching">{withCommas(await countMatched(watches, watch))}</Fact>
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

function troubleOf({ paused, pending }: WatchStatus, definition: WatchDefinition) {
  const error = pending?.attempts.error;
  const why = paused === null ? `The last ${nounOf(definition).toLowerCase()} was not accepted: ${error}.` : `Paused: ${paused}.`;
  return paused === null && !error ? null : <p class={error ? "error" : "quiet"}>{why}</p>;
}

/** What a form searches for, what of it matches now, and why it cannot be saved. `watch` is the one that gets this search. */
async function startOf(context: MemberContext, watch?: Watch) {
  const { catalog, index, now } = context;
  const feed = await latestPosition(catalog); // Before the matches: what is stored between the two reads is reported as new.
  const form = await readSearchForm(context, {});
  const about: Matching = { filter: form.filter, ...(form.allSources && { all_sources: true as const }) };
  const [wrong] = form.errors.values();
  const matchings = wrong === undefined ? [about, ...(watch ? [watch.definition] : [])] : [];
  const [ids = [], former = ids] = await matchingEach(catalog, index, matchings, now);
  const most = `a watch can have ${withCommas(LIMITS.matching)}. Add words or filters.`;
  const tooMany = ids.length > LIMITS.matching ? `This search matches ${withCommas(ids.length)} opportunities; ${most}` : undefined;
  return { form, about, ids, feed, difference: differenceOf(former, ids), wrong, tooMany };
}

/** The form of a watch before it is saved: what it means, and how much it would have sent. */
export async function newWatchPage(context: MemberContext): Promise<BrowsePage> {
  const { query, now, sent, hosts } = context;
  const { form, about, ids, wrong, tooMany } = await startOf(context);
  if (wrong !== undefined && sent === undefined) return { location: `/?${query}` };
  const title = ellipsized(form.filter.words ?? describeFilter(form.filter, now)[0] ?? "All opportunities", 60);
  const definition = { title, at_least: "material" as const, zone: "America/New_York", every: "day 08:00" };
  const content = (
    <>
      {wrong === undefined && <p class="lead">{await meaningOf(context, { ...definition, ...about }, ids)}</p>}
      <p>You get a mail when one is new, when one changes, and when one no longer matches, but not about what matches already.</p>
      <Alert>{tooMany}</Alert>
      <PostForm to="/watches" values={{ query: `${query}` }} submit="Save">
        <WatchFields definition={definition} sent={sent} hosts={hosts} />
      </PostForm>
    </>
  );
  return pageWith(context, "watches", "Mail me what changes", content);
}

/** "status open: 82 now; about 5 mails a month …, judged by the last 90 days." */
async function meaningOf({ catalog, now }: MemberContext, about: Omit<WatchDefinition, "receiver">, matching: readonly string[]) {
  const volume = await volumeInWords(catalog, matching, about, now);
  return `${capitalized(watchedInWords(about, now))}: ${withCommas(matching.length)} now${volume}.`;
}

/** The search of a watch in a form, and the matches that a changed search would add and remove. */
export async function watchSearchPage(context: MemberContext, watch: Watch): Promise<BrowsePage | undefined> {
  const { now, query, sent } = context;
  const { name, definition } = watch;
  const to = `/watches/${name}`;
  const action = `${to}/search`;
  if (definition.follows) return undefined;
  const location = query.size === 0 ? addressOf(action, searchOf(definition)) : tidyAddress(action, query);
  if (location !== undefined) return { location };
  const { form, about, ids, difference, wrong, tooMany } = await startOf(context, watch);
  const content = (
    <>
      <SearchFields action={action} form={form} now={now} />
      {wrong === undefined && (
        <Section id="means" title="What this means">
          <Alert>{sent?.errors.get("") ?? tooMany}</Alert>
          <p>{await meaningOf(context, { ...definition, ...about }, ids)}</p>
          <p>
            {counted(difference.joining.length, "opportunity", "opportunities")} more than before, and{" "}
            {withCommas(difference.leaving.length)} no longer. That is not mailed; what has changed and was not mailed yet still is.
          </p>
          <PostForm to={to} values={{ action: "search", query: `${query}` }} submit="Save this search" />
        </Section>
      )}
      <p>
        <a href={to}>Back to the watch</a>
      </p>
    </>
  );
  const page = pageWith(context, "watches", `Change the search of “${definition.title ?? name}”`, content);
  return wrong === undefined ? page : { ...page, status: 400 };
}

function searchOf({ filter, all_sources }: Matching): Record<string, string> {
  const given = Object.fromEntries(Object.entries(filter).map(([field, value]) => [field, `${value}`]));
  return { ...given, ...(all_sources && { all_sources: "yes" }) };
}

/** One watch: its search, the state of its mails, and the available actions. */
export async function watchPage(context: MemberContext, watch: Watch): Promise<BrowsePage> {
  const { watches, catalog, now, sent, hosts } = context;
  const { name, definition } = watch;
  const [title, to] = [definition.title ?? name, `/watches/${name}`];
  const { paused } = await watchStatusOf(watches, watch);
  const muted = (await listMuted(watches, watch)).map(({ id }) => id);
  const titles = new Map((await readOpportunities(catalog, muted, now)).map((each) => [each.id, each.title]));
  const deliveries = await listDeliveries(watches, name, 10);
  const actions = {
    test: "Send me a test",
    ...(paused === null ? { pause: "Pause" } : { resume: "Resume" }),
    remove: definition.follows ? "Follow nothing" : "Remove",
  };
  const content = (
    <>
      <p class="lead">
        {capitalized(watchedInWords(definition, now))}.{" "}
        <a href={definition.follows ? "/following" : addressOf("/", searchOf(definition))}>See what matches</a>
        {!definition.follows && [" · ", <a href={addressOf(`${to}/search`, searchOf(definition))}>Change the search</a>]}
      </p>
      {await factsOf(context, watch)}
      <PostForm to={to} actions={actions} />
      <Section id="change" title="Change it">
        <PostForm to={to} values={{ action: "edit" }} submit="Save">
          <WatchFields definition={{ ...definition, title }} sent={sent} hosts={hosts} />
        </PostForm>
      </Section>
      {muted.length > 0 && (
        <Section id="muted" title="Left out">
          <ul class="changes">
            {muted.map((id) => (
              <li>
                <PostForm to={to} values={{ id }} actions={{ unmute: "Report it again" }}>
                  <a href={opportunityAddress(id)}>{titles.get(id) ?? id}</a>
                </PostForm>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {deliveries.length > 0 && (
        <Section id="mails" title="Mails">
          <ul class="changes">
            {deliveries.map(({ delivered_at, counts }) => (
              <li>
                <Relative at={formatInstant(delivered_at)} now={now} />: {countsInWords(counts)}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
  return pageWith(context, definition.follows ? "following" : "watches", title, content);
}

/** What a member follows, by the next deadline. */
export async function followingPage(context: MemberContext): Promise<BrowsePage> {
  const { watches, member, catalog, index, now } = context;
  const watch = await followingOf(watches, member);
  const filter = { id: watch?.definition.filter.id ?? [NO_ID] };
  const { results } = await search(catalog, index, { filter, sort: "closes", limit: IDS_MAX }, now);
  const content =
    watch === undefined || results.length === 0 ? (
      <p class="empty">
        You follow nothing yet. <a href="/">Find an opportunity</a>, and press “Follow” on its page: you get a mail when it changes, and
        before it is due.
      </p>
    ) : (
      <>
        <p class="lead">
          Mails about changes: {scheduleInWords(watch.definition)}; <a href={`/watches/${watch.name}`}>change or pause them</a>.
        </p>
        {troubleOf(await watchStatusOf(watches, watch), watch.definition)}
        <p>
          Take the list along: <a href="/following.csv">CSV</a> · <a href="/following.ics">calendar</a> ·{" "}
          <a href="/following.atom">Atom feed</a> · <a href="/subscribe?following">addresses to subscribe to</a>
        </p>
        <h2>{counted(results.length, "opportunity", "opportunities")}, the next deadline first</h2>
        <Results results={await withLastChanges(catalog, results)} now={now}>
          {(id) => <FollowForm id={id} isFollowed={true} back="/following" />}
        </Results>
      </>
    );
  return pageWith(context, "following", "Following", content);
}

/** The beginning of a watch of a search, or of another search of one, for the process that stores it; or why it is refused. */
export type SearchStart = Awaited<ReturnType<typeof searchStart>>;

export async function searchStart(context: MemberContext, watch?: Watch) {
  const { about, ids, feed, difference, wrong, tooMany } = await startOf(context, watch);
  const refused = wrong === undefined ? tooMany : `The search cannot be read. ${wrong}`;
  return refused === undefined ? { about, ids, feed, difference } : { refused };
}

/** What `make` makes of the member's watch of this name; undefined if there is none. */
export function withWatch<T>(name: string, make: (context: MemberContext, watch: Watch) => Promise<T>) {
  return async (context: MemberContext): Promise<T | undefined> => {
    const watch = await ownWatch(context.watches, context.member, name);
    return watch && make(context, watch);
  };
}
