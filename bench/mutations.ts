/** The lines that `bench/mutate.ts` breaks, what each promises, and the tests that should notice. */

export type Mutation = {
  file: string;
  /** The text that is replaced. The file has it once. */
  from: string;
  to: string;
  /** What no longer holds then. */
  promise: string;
  /** Paths below `tests`. */
  tests: readonly string[];
};

export const mutations: readonly Mutation[] = [
  // Lists and access.
  {
    file: "src/opportunities/read-model.ts",
    from: "  const lastSeenCommit = db.commits();\n  const isCurrent = () => model.index === index; // False after a reload.\n  await appendNewer(db, model, isCurrent);\n  if (!isCurrent()) return;\n",
    to: "  const isCurrent = () => model.index === index; // False after a reload.\n  await appendNewer(db, model, isCurrent);\n  if (!isCurrent()) return;\n  const lastSeenCommit = db.commits();\n",
    promise: "a commit that comes while newer records are read is read next time",
    tests: ["opportunities/read-model.test.ts"],
  },
  {
    file: "src/opportunities/list.ts",
    from: "  if (anchor !== undefined && !isNewest(index, anchor)) return false;\n  return upstream === undefined || upstream.seqs.size === 0 || upstream.newest === newestTime(index);",
    to: "  return true || (anchor !== undefined && isNewest(index, anchor)) || upstream?.newest === newestTime(index);",
    promise: "a list is tried again if a commit comes between its steps",
    tests: ["opportunities/list.test.ts"],
  },
  {
    file: "src/opportunities/list.ts",
    from: "if (shown.every((document) => isNewest(model.index, document))) return",
    to: "return",
    promise: "a page shows no record that has moved meanwhile",
    tests: ["opportunities/list.test.ts"],
  },
  {
    file: "src/accounts/access.ts",
    from: "if (generation === access.lastSeen.use + 1) access.lastSeen.use",
    to: "access.lastSeen.use",
    promise: "use that another server stored is read, although this one has stored its own since",
    tests: ["accounts/access.test.ts"],
  },
  {
    file: "src/accounts/access.ts",
    from: "{ day, used: count + key.unsaved }",
    to: "{ day, used: count }",
    promise: "requests that arrive during a save count",
    tests: ["accounts/access.test.ts"],
  },
  // What an import stores.
  {
    file: "src/changes/decide.ts",
    from: "due_dates: current.due_dates, agency_codes",
    to: "due_dates: previous.due_dates, agency_codes",
    promise: "new due dates are stored",
    tests: ["changes/status-turns.test.ts"],
  },
  {
    file: "src/changes/decide.ts",
    from: "return decisionOf(stored, previous, changes, stored.status_basis, classify(stored.id, changes, instant, causedBy(foreseen)), foreseen);",
    to: "return decisionOf(stored, previous, changes, stored.status_basis, classify(stored.id, changes, instant), foreseen);",
    promise: "what the clock was known to change is no news",
    tests: ["changes/status-turns.test.ts", "changes/status-terms.test.ts", "changes/event-table.test.ts"],
  },
  {
    file: "src/import/run.ts",
    from: "        for (const link of byParent.get(id) ?? []) await storeParent(run, writing, link);\n        byParent.delete(id);\n",
    to: "",
    promise: "links to a new parent are stored in its transaction",
    tests: ["import/links.test.ts"],
  },
  {
    file: "src/import/versions/settled.ts",
    from: "if (isRead && !otherIds.has(id) && !isPending(id)) {",
    to: "if (isRead && !otherIds.has(id)) {",
    promise: "a version is read if an earlier file of the import has another text of it",
    tests: ["import/settled.test.ts"],
  },
  {
    file: "src/import/versions/settled.ts",
    from: "if (isRead && !otherIds.has(id) && !isPending(id)) {",
    to: "if (isRead && !isPending(id)) {",
    promise: "a version is read if the same file has another text of it before",
    tests: ["import/settled.test.ts"],
  },
  {
    file: "src/changes/commit.ts",
    from: "throw new LaterChange(",
    to: "if (false) throw new LaterChange(",
    promise: "no other change comes between those of a backfill",
    tests: ["import/backfill-beside.test.ts"],
  },
  {
    file: "src/changes/commit.ts",
    from: "    await sql.run(updateUnserved, { seq, stored_at: instant, status_basis, turns_at, hash, sidecar });\n    countRecord(counts, facet, indexed, 1);",
    to: "    await sql.run(updateUnserved, { seq, stored_at: stored.stored_at ?? instant, status_basis, turns_at, hash, sidecar });",
    promise: "a record of which only unserved fields change is still counted",
    tests: ["changes/counts.test.ts"],
  },
  {
    file: "src/changes/detect.ts",
    from: "if ((previous.funding === null) === (current.funding === null)) return difference;",
    to: "return difference;",
    promise: "funding that appears is one change",
    tests: ["changes/content.test.ts", "changes/event-table.test.ts"],
  },
  {
    file: "src/changes/classify.ts",
    from: "if (severities.indexOf(rule.severity) > severities.indexOf(event.severity)) event.severity = rule.severity;",
    to: "",
    promise: "an event has the severity of its gravest change",
    tests: ["changes/event-table.test.ts"],
  },
  {
    file: "src/changes/status-turns.ts",
    from: "      await refuseDuringBackfill(writing.sql);\n",
    to: "",
    promise: "no status turns during a backfill",
    tests: ["import/backfill-beside.test.ts"],
  },
  {
    file: "src/changes/check.ts",
    from: "turns_at > stored_at && clockTurnsAt(content, status_basis, turns_at - 1) !== turns_at",
    to: "false",
    promise: "fundfeed check compares the instant of the next turn with the clock's",
    tests: ["changes/status-turns.test.ts"],
  },
  // The feed and watches.
  {
    file: "src/events/feed.ts",
    from: "    if (after !== null) await requirePosition(sql, after);\n    const { since }",
    to: "    const { since }",
    promise: "a position of another catalog is refused",
    tests: ["events/feed.test.ts"],
  },
  {
    file: "src/events/feed.ts",
    from: "const atEnd = last === heads.at(-1) && heads.length < EXAMINED_MAX;",
    to: "const atEnd = heads.length < EXAMINED_MAX;",
    promise: "a full page of the feed says that more may follow",
    tests: ["events/feed.test.ts"],
  },
  {
    file: "src/watch/pending.ts",
    from: "  await sql.run(join, { watch });\n",
    to: "",
    promise: "what a receiver has got is not new the next time",
    tests: ["watch/run.test.ts"],
  },
  {
    file: "src/watch/pending.ts",
    from: "  await sql.run(remind, { watch });\n",
    to: "",
    promise: "a reminder comes once",
    tests: ["watch/reminders.thorough.test.ts", "watch/run.test.ts"],
  },
  {
    file: "src/watch/plan.ts",
    from: "entries.length === changes.entries.length ? changes.feed : last === undefined ? position.feed : { seq: last.seq, id: last.event.id };",
    to: "changes.feed;",
    promise: "changes for which a message has no room come in the next one",
    tests: ["watch/run.test.ts", "watch/digest.test.ts"],
  },
  {
    file: "src/watch/attempts.ts",
    from: "Math.min(retryAfterMs ?? 0, ASKED_MAX_MS)",
    to: "retryAfterMs ?? 0",
    promise: "no receiver delays a message by more than a day",
    tests: ["watch/attempts.test.ts"],
  },
  {
    file: "src/watch/run.ts",
    from: "if (stop.aborted) return fail(parts, () => ({ reason: messageOf(error), retry_at: null, tried: true }));",
    to: "",
    promise: "a delivery that a signal cuts off counts as no failure of the receiver",
    tests: ["watch/run.test.ts"],
  },
  {
    file: "src/quota/allowance.ts",
    from: "window.used + asked <= quota.daily",
    to: "window.used <= quota.daily",
    promise: "the day's quota is exact",
    tests: ["quota/allowance.test.ts"],
  },
  {
    file: "src/quota/allowance.ts",
    from: "const after = isGranted ? { day: window.day, used: window.used + asked } : window;",
    to: "const after = { day: window.day, used: window.used + asked };",
    promise: "a refused request takes nothing",
    tests: ["quota/allowance.test.ts"],
  },
  {
    file: "src/quota/allowance.ts",
    from: "return window.day === day || window.day === dayOf(now + LATE_MAX_MS) ? window",
    to: "return window.day === day ? window",
    promise: "a request that is late at midnight counts on the new day",
    tests: ["quota/allowance.test.ts"],
  },
  // The search index.
  {
    file: "src/search/catch-up.ts",
    from: "if (Bun.deepEquals(stateOf(sqlite), state)) write();",
    to: "write();",
    promise: "two processes that write the index do not undo each other's work",
    tests: ["search/catch-up.test.ts"],
  },
  {
    file: "src/search/catch-up.ts",
    from: "  if (newest === undefined || newest.stored_at < state.stored_at) return true;\n",
    to: "  if (newest === undefined) return true;\n",
    promise: "an index that is ahead of a restored catalog is built again",
    tests: ["search/catch-up.test.ts"],
  },
  {
    file: "src/search/write.ts",
    from: "    for (const { id } of naming.all(each)) moving.add(id);\n",
    to: "",
    promise: "records of one opportunity stay together when one of them moves",
    tests: ["search/catch-up.test.ts", "search/rows.test.ts"],
  },
  {
    file: "src/search/catch-up.ts",
    from: 'if (now !== undefined && isFuture(state.judged_until, now)) return "rebuild";',
    to: "",
    promise: "an index that was judged by a clock ahead is built again",
    tests: ["search/catch-up.test.ts"],
  },
  // What a search finds, and whose a record is.
  {
    file: "src/search/best-match.ts",
    from: "  if (ids.length === 0 || condition === undefined) return",
    to: "  if (true) return",
    promise: "a record with the number that was asked for must meet the filters",
    tests: ["search/search.test.ts"],
  },
  {
    file: "src/search/preferred.ts",
    from: 'if (phrase === "") return',
    to: "if (true) return",
    promise: "a set-aside that the texts name is preferred, too",
    tests: ["search/preferred.test.ts"],
  },
  {
    file: "src/search/question.ts",
    from: "  if (records > RARE_MAX) return undefined;\n",
    to: "",
    promise: "a word that many records have is not corrected",
    tests: ["search/question.test.ts"],
  },
  {
    file: "src/search/group-counts.ts",
    from: "matches > 0 ? partials : Math.max(0, partials - 1)",
    to: "Math.max(0, partials - 1)",
    promise: "an opportunity that matches is not counted among the partial matches",
    tests: ["search/group-counts.test.ts"],
  },
  {
    file: "src/search/find.ts",
    from: "other.id < records.id)",
    to: "other.id > records.id)",
    promise: "of linked records without the canonical one, the first by id is shown",
    tests: ["search/rows.test.ts"],
  },
  {
    file: "src/search/score.ts",
    from: "phrase.matched === at && phrase.place === place - 1",
    to: "phrase.matched === at",
    promise: "the words of a phrase must be neighbors",
    tests: ["search/score.test.ts"],
  },
  {
    file: "src/search/agency-notes.ts",
    from: "code === undefined || codes.some((each) => counts.has(each))",
    to: "code === undefined || codes.every((each) => counts.has(each))",
    promise: "an agency of several with records is not said to have none",
    tests: ["search/agencies.test.ts"],
  },
  {
    file: "src/filter/agency-words.ts",
    from: '(words.length !== 2 || code.split(".").length <= 3)',
    to: "true",
    promise: "two ordinary words are no office far down",
    tests: ["filter/question.test.ts"],
  },
  {
    file: "src/filter/agency-words.ts",
    from: "(isAllCaps || !ABBREVIATION.test(text))",
    to: "!ABBREVIATION.test(text)",
    promise: "in a question in capitals, a word is no abbreviation",
    tests: ["filter/question.test.ts"],
  },
  {
    file: "src/agencies/resolve.ts",
    from: `levelOf(code ?? "") >= levelOf(before ?? "") ? code : before`,
    to: "code",
    promise: "of several codes, the one of the smallest agency decides",
    tests: ["agencies/resolve.test.ts"],
  },
  {
    file: "src/agencies/offices.ts",
    from: "(?<= |^)",
    to: "",
    promise: "a pattern of an office begins a word",
    tests: ["agencies/resolve.test.ts"],
  },
];
