/**
 * What a question says besides what is sought: an amount, a date, a state, who may apply, a kind. Its words are not searched for. A record
 * that meets it comes first among equal matches, and the result names the filter that makes it strict. (E-242)
 */
import { openStatuses } from "../opportunities/status.ts";
import { easternDate } from "../text/eastern.ts";
import type { EpochMs } from "../text/instant.ts";
import { placeCode, stateNames } from "./places.ts";

/** `filter` makes it strict, as JSON of a filter; what has `hint` among its words meets the preference, too. */
export type Preference = { asked: string; filter: (now: EpochMs) => { [field: string]: string | string[] }; hint?: string };

/** What a part of a text says, and which words of it are to be found all the same. */
type Meaning = Omit<Preference, "asked"> & { sought?: string };
type Found = Meaning & { asked: string; begin: number; end: number; kind: Kind };

/** Where nothing else is left to find, the words of the last of these are found after all. */
const kinds = ["amount", "date", "applicant", "not", "place", "set_aside", "kind"] as const;
type Kind = (typeof kinds)[number];

/**
 * The preferences in a text, and the texts without their words: the first one without any of them, the next ones with more and more, in case
 * that nothing else is left. What is in quotes or has a sign is never read as a preference.
 */
export function preferencesIn(text: string): { preferences: Preference[]; texts: string[] } {
  if (text.length > LENGTH_MAX) return { preferences: [], texts: [text] };
  const plain = text.replace(/["“”][^"“”]*["“”]?|(?<!\S)[-+]\S+/g, (exact) => "\0".repeat(exact.length));
  const found: Found[] = [];
  for (const { kind, pattern, read } of readers)
    for (const match of plain.matchAll(pattern())) {
      const [begin, end] = [match.index, match.index + match[0].length];
      if (found.some((each) => begin < each.end && each.begin < end)) continue;
      if (kind !== "not" && NEGATED.test(plain.slice(0, begin))) continue;
      const preference = read(match.groups ?? {}, match[0]);
      if (preference !== undefined) found.push({ asked: match[0].trim(), ...preference, begin, end, kind });
    }
  found.sort((left, right) => left.begin - right.begin);
  const without = (given: readonly Kind[]) =>
    found
      .filter(({ kind }) => given.includes(kind))
      .toReversed()
      .reduce((left, { begin, end, sought = "" }) => `${left.slice(0, begin)} ${sought} ${left.slice(end)}`, text);
  const texts = found.length === 0 ? [text] : kinds.map((_, n) => without(kinds.slice(0, kinds.length - n)));
  return {
    preferences: found.map(({ asked, filter, hint }) => ({ asked, filter, ...(hint !== undefined && { hint }) })),
    texts: [...texts, text],
  };
}

/** The end of a text that turns what follows it into its opposite. */
const NEGATED = /\b(?:not?|never|no longer|except(?: for)?|excluding|other than|without)\s+$/i;

/** The longest text of a filter. */
const LENGTH_MAX = 1000;

type Groups = { [name: string]: string | undefined };
type Reader = { kind: Kind; pattern: () => RegExp; read: (groups: Groups, all: string) => Meaning | undefined };

/** What may follow what is read: the end, a sign, or a word that does not go on with it, as "people" goes on with "two million". */
const NO_MORE =
  "(?=\\s*(?:$|[^\\s\\p{L}\\p{N}'’-]|(?:for|in|to|on|at|from|with|by|that|which|and|or|per|each|is|are|due|closing|open|posted|awards?|grants?)\\b))";

const always = (filter: { [field: string]: string | string[] }, hint?: string) => ({
  filter: () => filter,
  ...(hint !== undefined && { hint }),
});

// ---- Amounts.

const WORD_NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  twenty: 20,
  fifty: 50,
  hundred: 100,
  "a hundred": 100,
  half: 0.5,
  "half a": 0.5,
}; // prettier-ignore
const SCALES: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, m: 1e6, mm: 1e6, mil: 1e6, million: 1e6, b: 1e9, billion: 1e9 };
const MONEY = (n: string) =>
  `(?<sign${n}>\\$\\s?)?(?<number${n}>\\d[\\d,]*(?:\\.\\d+)?|${Object.keys(WORD_NUMBERS).toReversed().join("|")})` +
  `(?<scaled${n}>[\\s-]?(?<scale${n}>thousand|million|billion|mil|mm|[kmb])s?)?(?![\\w%])(?<dollars${n}>\\s*(?:dollars?|usd)\\b)?(?:(?<alone${n}>${NO_MORE})|)`;
const LEAST =
  "at least|more than|over|above|min(?:imum)?(?: award)?(?: of)?|(?:no|not) less than|greater than(?: or equal to)?|exceeding|larger than|bigger than|from|>=?|≥";
const MOST =
  "at most|less than|under|below|up to|(?:no|not) more than|not (?:to exceed|exceeding)|capped at|max(?:imum)?(?: award)?(?: of)?|smaller than|<=?|≤";

/** The dollars of a text, if it can only be money; undefined otherwise. */
function dollarsOf(groups: Groups, n: string): string | undefined {
  const [number = "", scale, sign, dollars] = ["number", "scale", "sign", "dollars"].map((name) => groups[name + n]);
  const isDigits = /^\d/.test(number);
  if (!isDigits && scale === undefined) return undefined;
  if (sign === undefined && dollars === undefined && !isPlainMoney(groups, n)) return undefined;
  const plain = isDigits ? Number(number.replaceAll(",", "")) : (WORD_NUMBERS[number.toLowerCase()] ?? 0);
  const amount = Math.round(plain * (SCALES[scale?.toLowerCase() ?? ""] ?? 1));
  return amount >= AMOUNT_MIN && amount <= AMOUNT_MAX ? String(amount) : undefined;
}

/** Whether a number with a scale and without a sign can be money: "two million", "500k", but not "two million people", "5 mm", "4 K", "4K". */
function isPlainMoney(groups: Groups, n: string): boolean {
  const [scaled, alone] = [groups[`scaled${n}`], groups[`alone${n}`]];
  return scaled !== undefined && alone !== undefined && !/mm|\s[kmb]$/i.test(scaled) && !/^\dk/i.test(groups[`number${n}`] + scaled);
}

/** Less is a price in a description; more, a mistake. */
const [AMOUNT_MIN, AMOUNT_MAX] = [1000, 1e12];

// ---- Dates.

const MONTH_NAMES = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const MONTHS = MONTH_NAMES.map((name) => (name.length > 4 ? `${name.slice(0, 3)}(?:${name.slice(3)})?\\.?` : name)).join("|");
/** A month, or a day of it: "March", "March 15, 2027", "15 March", "3/15/2027", "2027-03-15". */
const DATE = (n = "") =>
  `(?:(?:(?<early${n}>\\d{1,2})\\s+)?(?<month${n}>sept\\.?|${MONTHS})(?:\\s+(?<day${n}>\\d{1,2})(?:st|nd|rd|th)?)?(?:,?\\s+(?<year${n}>20\\d\\d))?` +
  `|(?<numbers${n}>20\\d\\d-(?:0?\\d|1[0-2])-[0-3]?\\d|(?:0?\\d|1[0-2])/[0-3]?\\d/20\\d\\d))(?!\\w)`;
const CLOSING =
  "(?:(?:that|which)\\s+)?(?:is\\s+|are\\s+)?(?:closing|closes?|due|deadlines?(?:\\s+(?:is|are))?|expiring|expires|(?<!(?:performance|period|project|year)s?\\s+)(?:ending|ends))";
const POSTED = "(?:(?:that|which)\\s+)?(?:was\\s+|were\\s+)?(?:posted|published|announced|released|new|added)";
const [UNIT, COUNT] = ["(?<unit>day|week|month|year)s?\\b", "(?<count>\\d{1,3}|a|one|two|three|four|six)"];
const UNIT_DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 };

type Day = { year: number; month: number; day: number };

function dayAt(now: EpochMs): Day {
  const [year = 0, month = 1, day = 1] = easternDate(now).split("-").map(Number);
  return { year, month, day };
}

/** "2026-12-01"; days and months past the end are those of the next month or year. */
function dateOf({ year, month, day }: Day): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

/** This or the next week or month as first and last day; "this week" ends with Sunday. */
function periodOf(which: string, unit: string, now: EpochMs): [first: string, end: string] {
  const today = dayAt(now);
  const ahead = /next/i.test(which) ? 1 : 0;
  if (/year/i.test(unit))
    return [dateOf({ year: today.year + ahead, month: 1, day: 1 }), dateOf({ year: today.year + ahead + 1, month: 1, day: 1 })];
  if (/month/i.test(unit)) {
    const month = today.month + ahead;
    return [dateOf({ ...today, month, day: 1 }), dateOf({ ...today, month: month + 1, day: 1 })];
  }
  const weekday = (new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() + 6) % 7;
  const day = today.day - weekday + 7 * ahead;
  return [dateOf({ ...today, day }), dateOf({ ...today, day: day + 7 })];
}

/** The first of a month, or a day, and the day after it. Without a year it is one from today on or, if it is past, up to today. */
function daysOf(groups: Groups, now: EpochMs, { n = "", isPast = false } = {}): [first: string, end: string] {
  const [month = "", day, year, numbers] = [`month${n}`, `day${n}`, `year${n}`, `numbers${n}`].map((name) => groups[name]);
  const date = day ?? groups[`early${n}`];
  const today = dayAt(now);
  if (numbers !== undefined) {
    const [one = 0, two = 0, three = 0] = numbers.split(/[-/]/).map(Number);
    const given = numbers.includes("-") ? { year: one, month: two, day: three } : { year: three, month: one, day: two };
    return [dateOf(given), dateOf({ ...given, day: given.day + 1 })];
  }
  const given = {
    year: Number(year ?? today.year),
    month: MONTH_NAMES.findIndex((each) => each.startsWith(month.toLowerCase().slice(0, 3))) + 1,
    day: Number(date ?? 1),
  };
  const order = given.month - today.month || (date === undefined ? 0 : given.day - today.day);
  if (year === undefined) given.year += isPast ? -Number(order > 0) : Number(order < 0);
  return [dateOf(given), dateOf(date === undefined ? { ...given, month: given.month + 1 } : { ...given, day: given.day + 1 })];
}

/** From today up to a day, which may be over. */
function until(closes_before: string, now: EpochMs) {
  return closes_before > dateOf(dayAt(now)) ? { closes_after: "0d", closes_before } : { closes_before };
}

// ---- Who may apply, set-asides and kinds, as people name them.

const applicants: Readonly<Record<string, string>> = {
  "small-business": "small[- ]business(?:es)?(?: concerns?)?|start-?ups?(?: compan(?:y|ies))?|small (?:compan(?:y|ies)|firms?)",
  nonprofit: "(?:non-?profits?|not[- ]for[- ]profits?)(?: organi[sz]ations?)?|charit(?:y|ies)|501\\s?\\(?c\\)?\\s?\\(?3\\)?",
  university: "universit(?:y|ies)|colleges?|institutions? of higher education",
  tribe: "trib(?:e|al (?:government|nation|organization))s?",
  county: "count(?:y|ies)|county governments?",
  city: "cit(?:y|ies)|towns?|municipalit(?:y|ies)|local governments?",
  "school-district": "school districts?|schools?",
  "housing-authority": "(?:public )?housing authorit(?:y|ies)",
  state: "states?|state (?:government|agenc(?:y|ie))s?",
  "for-profit": "for[- ]profits?(?: (?:compan(?:y|ies)|organi[sz]ations?))?|compan(?:y|ies)|business(?:es)?|firms?",
  individual: "individuals?|a person|artists?",
};
const WHO = `(?<who>${Object.values(applicants).join("|")})`;
/** Of these alone "for" says who applies, and not whom it serves. */
const FOR_WHO = `(?<who>${["small-business", "nonprofit"].map((kind) => applicants[kind]).join("|")}|school districts|universities|local governments)`;

function applicantOf({ who = "" }: Groups) {
  const kind = Object.keys(applicants).find((each) => new RegExp(`^(?:${applicants[each]})$`, "i").test(who.trim()));
  return kind === undefined ? undefined : always({ applicant: [kind] });
}

const setAsides: Readonly<Record<string, string>> = {
  "8A": "8\\s?\\(a\\)|8a",
  EDWOSB: "EDWOSBs?|economically disadvantaged wom[ae]n[- ]owned(?: small)?(?: business(?:es)?)?",
  SDVOSB: "SDVOSBs?|service[- ]disabled[- ]veteran[- ]owned(?: small)?(?: business(?:es)?)?",
  WOSB: "WOSBs?|wom[ae]n[- ]owned(?: small)?(?: business(?:es)?)?",
  HUBZONE: "hub[- ]?zones?",
  VSA: "VOSBs?|veteran[- ]owned(?: small)?(?: business(?:es)?)?",
  SBA: "(?:total )?small[- ]business(?:es)?(?=\\s+set[- ]asides?)|(?<=(?:set[- ]asides?|reserved) for (?:an? )?)small[- ]business(?:es)?",
};

/** Before a place. */
const IN_PLACE = anyCase("(?:in|within|across|throughout|near|at|for|from)");
/** A state before one of these or before another capital is part of another name: "Ohio River", "Georgia Tech". */
const OTHER_NAMES = `(?:${anyCase("river|valley|basin|bay|gulf|city|county|university|national|state|coast|island|tech")})\\b|(?!(?:And|At|By|Closing|Due|For|In|On|Open|Or|Over|That|To|With)\\b)[A-Z][a-z&]`;
const PLACE = `(?:(?:${anyCase("washington,? d\\.?c")}\\.?(?![\\w-])|(?:${anyCase(stateNames.join("|"))})(?![\\w-]|\\s+(?:${OTHER_NAMES})))|[A-Z]{2}(?![\\w-])${NO_MORE})`;
const IN_CAPITALS = /^(?!OR|IN|ME|OK|HI)[A-Z]{2}$/;

/** What is open. */
const CALLS = "(?:(?:funding\\s+)?opportunit|grants|solicitations|contracts|competitions)";
/** "when does it open", "forecast or open" and "about to open" do not ask for what is open. */
const NOT_ABOUT_OPENING = "(?<!\\b(?:(?:when|will|does|did)\\b.*|(?:or|to)\\s+open\\b.*))";

/** Every reader reads what no earlier one has read. */
const readers: readonly Reader[] = [
  {
    kind: "amount",
    pattern: pattern(`(?:(?:between|from)\\s+)?${MONEY("1")}\\s*(?:-|–|to|and)\\s*${MONEY("2")}`),
    read: (groups) => {
      const { scale1 = groups.scale2, scaled1 = groups.scaled2, sign1 = groups.sign2, dollars1 = groups.dollars2, alone2: alone1 } = groups;
      const low = dollarsOf({ ...groups, scale1, scaled1, sign1, dollars1, alone1 }, "1");
      const high = dollarsOf({ ...groups, sign2: sign1 }, "2");
      return low === undefined || high === undefined || Number(low) > Number(high)
        ? undefined
        : always({ min_amount: low, max_amount: high });
    },
  },
  {
    kind: "amount",
    pattern: pattern(`(?:of\\s+|for\\s+)?(?:${LEAST})\\s*(?:the\\s+)?${MONEY("")}`),
    read: (groups) => amount("min_amount", groups),
  },
  {
    kind: "amount",
    pattern: pattern(`(?:of\\s+|for\\s+)?(?:${MOST})\\s*(?:the\\s+)?${MONEY("")}`),
    read: (groups) => amount("max_amount", groups),
  },
  {
    kind: "amount",
    pattern: pattern(`${MONEY("")}(?:\\+|\\s+(?:or|and)\\s+(?:more|above|up))(?:(?<after>${NO_MORE})|)`),
    read: (groups) => amount("min_amount", { ...groups, alone: groups.after }),
  },
  {
    kind: "amount",
    pattern: pattern(`${MONEY("")}\\s+(?:or|and)\\s+(?:less|below|under)`),
    read: (groups) => amount("max_amount", groups),
  },
  {
    kind: "amount",
    pattern: pattern(`(?:(?:of|for|about|around)\\s+)?(?=\\$|\\S+\\s?(?:k|mil|million)?\\s+dollars)${MONEY("")}`),
    read: (groups) => amount("min_amount", groups),
  },
  {
    kind: "date",
    pattern: pattern(
      `(?<when>recently|newly)\\s+${POSTED}|${POSTED}\\s+(?:in\\s+|within\\s+|during\\s+|since\\s+)?(?:the\\s+)?(?:(?<day>today|yesterday|recently|lately)|(?:this|last|past)\\s+(?:${COUNT}\\s+)?${UNIT})`,
    ),
    read: ({ day, when = day, count = "one", unit = "" }) => {
      if (when !== undefined) return always({ posted_after: /ly$/i.test(when) ? "30d" : when.toLowerCase() });
      return always({ posted_after: `${numberOf(count) * (UNIT_DAYS[unit.toLowerCase()] ?? 1)}d` });
    },
  },
  {
    kind: "date",
    pattern: pattern(`${POSTED}\\s+(?<side>since|after|before|in|on|during)\\s+${DATE()}`),
    read: (groups) => ({
      filter: (now) => {
        const [first, end] = daysOf(groups, now, { isPast: true });
        const side = groups.side?.toLowerCase();
        if (side === "before") return { posted_before: first };
        if (side === "since" || side === "after") return { posted_after: side === "since" ? first : end };
        return { posted_after: first, posted_before: end };
      },
    }),
  },
  {
    kind: "date",
    pattern: pattern(`${CLOSING}\\s+(?:(?:in|by|within|during)\\s+)?(?<which>this|next)\\s+(?<unit>week|month|year)`),
    read: ({ which = "", unit = "" }) => ({
      filter: (now) => {
        const [first, end] = periodOf(which, unit, now);
        return { closes_after: /next/i.test(which) ? first : "today", closes_before: end };
      },
    }),
  },
  {
    kind: "date",
    pattern: pattern(
      `(?:${CLOSING}\\s+)?(?:in|within)\\s+(?:less than\\s+|the\\s+)?(?:next\\s+)?${COUNT}\\s+${UNIT}|${CLOSING}\\s+(?<soon>soon)`,
    ),
    read: ({ count = "", unit = "", soon }, all) => {
      if (soon === undefined && !new RegExp(CLOSING, "i").test(all) && !/next/i.test(all)) return undefined;
      const days = soon === undefined ? numberOf(count) * (UNIT_DAYS[unit.toLowerCase()] ?? 1) : 30;
      return always({ closes_after: "0d", closes_before: `${days}d` });
    },
  },
  {
    kind: "date",
    pattern: pattern(`${CLOSING}\\s+(?<when>today|tomorrow)`),
    read: ({ when = "" }) =>
      always(
        /today/i.test(when) ? { closes_after: "today", closes_before: "tomorrow" } : { closes_after: "tomorrow", closes_before: "48h" },
      ),
  },
  {
    kind: "date",
    pattern: pattern(`(?:${CLOSING}\\s+)?(?:by|before|until|at)\\s+(?:the\\s+)?end of (?:the|this)\\s+(?<unit>week|month|year)`),
    read: ({ unit = "" }) => ({ filter: (now) => until(periodOf("this", unit, now)[1], now) }),
  },
  {
    kind: "date",
    pattern: pattern(
      `(?:(?<closing>${CLOSING})\\s+)?(?<side>by|no later than|before|until|after)\\s+(?:the end of\\s+)?${DATE()}(?:(?<alone>${NO_MORE})|)`,
    ),
    read: (groups) => {
      // "after May" alone is when something happened, and "March of Dimes" is no month.
      if (groups.closing === undefined && (/after/i.test(groups.side ?? "") || groups.alone === undefined)) return undefined;
      return {
        filter: (now) => {
          const [first, end] = daysOf(groups, now);
          const side = groups.side?.toLowerCase();
          return side === "after" ? { closes_after: end } : until(side === "before" ? first : end, now);
        },
      };
    },
  },
  {
    kind: "date",
    pattern: pattern(`${CLOSING}\\s+(?:between|from)\\s+${DATE("1")}\\s+(?:and|to|through)\\s+${DATE("2")}`),
    read: (groups) => ({
      filter: (now) => ({ closes_after: daysOf(groups, now, { n: "1" })[0], closes_before: daysOf(groups, now, { n: "2" })[1] }),
    }),
  },
  {
    kind: "date",
    pattern: pattern(`${CLOSING}\\s+(?:(?:in|on|during)\\s+)?${DATE()}`),
    read: (groups) => ({
      filter: (now) => {
        const [closes_after, closes_before] = daysOf(groups, now);
        return { closes_after, closes_before };
      },
    }),
  },
  {
    kind: "applicant",
    pattern: pattern(
      `(?:for which\\s+|that\\s+)?(?:can|could|may|do|does|would|is|are)\\s+(?:an?\\s+|my\\s+|our\\s+|the\\s+)?${WHO}\\s+(?:(?:apply|bid|compete|qualify|get|receive|win)(?:\\s+(?:for|to|on))?|eligible(?:\\s+for)?)`,
    ),
    read: applicantOf,
  },
  {
    kind: "applicant",
    pattern: pattern(`(?:that\\s+|which\\s+)?${WHO}\\s+(?:can|could|may)\\s+(?:apply|bid|compete)(?:\\s+(?:for|to|on))?`),
    read: applicantOf,
  },
  {
    kind: "applicant",
    pattern: pattern(`(?:that\\s+(?:is|are)\\s+)?(?:open|available|limited|restricted)\\s+to\\s+(?:an?\\s+)?${WHO}`),
    read: applicantOf,
  },
  {
    kind: "applicant",
    pattern: pattern(`eligible\\s+(?:for\\s+|applicants?:?\\s+)?${WHO}|${WHO.replace("who", "other")}\\s+(?:(?:is|are)\\s+)?eligible`),
    read: ({ who, other }) => applicantOf({ who: who ?? other }),
  },
  {
    kind: "applicant",
    pattern: pattern(`(?:i am|i'm|we are|we're|i run|we run|apply as)\\s+an?\\s+${WHO}|as\\s+an?\\s+${FOR_WHO.replace("who", "other")}`),
    read: ({ who, other }) => applicantOf({ who: who ?? other }),
  },
  {
    kind: "set_aside",
    pattern: pattern(
      `(?:(?:(?:set[- ]asides?|reserved)\\s+)?(?:for|as)\\s+(?:an?\\s+)?)?(?<family>${Object.values(setAsides).join("|")})(?:\\s+set[- ]asides?)?`,
    ),
    read: ({ family = "" }) => {
      const name = Object.keys(setAsides).find((each) => new RegExp(`^(?:${setAsides[each]?.replace(/\(\?=.*/, "")})$`, "i").test(family));
      return name === undefined ? undefined : always({ set_aside: [name] }, family);
    },
  },
  {
    kind: "applicant",
    pattern: pattern(
      `(?:(?<!(?:set[- ]asides?|reserved)\\s+)for|(?<=(?:grants|awards|funding)\\s+)to)\\s+(?:an?\\s+)?${FOR_WHO}(?=\\s*(?:$|[,.?!;]|that\\b|which\\b|in\\b|to\\b|who\\b|with\\b|working\\b|doing\\b))`,
    ),
    read: applicantOf,
  },
  {
    kind: "place",
    pattern: compiledAtUse(
      `(?<![\\w-])(?:${IN_PLACE}\\s+(?:the\\s+)?(?:[Ss]tate\\s+of\\s+)?|(?<=${IN_PLACE}\\s+(?:[A-Z][a-z.][\\w.'-]*,?\\s+){1,3}))(?<places>${PLACE}(?:,?\\s+(?:and|or|AND|OR)\\s+${PLACE}|,\\s*${PLACE})*)`,
      "gu",
    ),
    read: ({ places = "" }, all) => {
      const named = places.split(/,?\s+(?:and|or)\s+|,(?!\s*d\.?c)\s*/i);
      const codes = named.flatMap((place) => {
        if (place.length === 2 && (!IN_CAPITALS.test(place) || /^(?:for|from)\b|\bthe\s/i.test(all))) return [];
        const code = placeCode(/^wash.*c\.?$/i.test(place) ? "DC" : place);
        return code?.length === 2 ? [code] : [];
      });
      if (codes.length === 0) return undefined;
      const names = named.filter((place) => place.length > 2);
      return { ...always({ place: codes }), sought: names.length > 1 ? names.map((name) => `"${name}"`).join(" OR ") : (names[0] ?? "") };
    },
  },
  {
    kind: "kind",
    pattern: pattern("prizes?(?:\\s+(?:competitions?|challenges?|contests?))?(?!-)"),
    read: (_, all) => ({ ...always({ program_type: ["PRIZE"] }), sought: all }),
  },
  {
    kind: "kind",
    pattern: pattern(
      "(?:who|which (?:company|firm|companies|firms))\\s+(?:has\\s+|have\\s+)?(?:won|got|received)(?:\\s+the)?(?:\\s+(?:contracts?|awards?|grants?))?(?:\\s+for)?|who\\s+(?:was|were)\\s+awarded|awarded\\s+to\\s+(?:who|whom)|(?:winners?|awardees?)\\s+(?:of|for)|award notices?(?:\\s+for)?",
    ),
    read: () => always({ status: ["awarded"] }),
  },
  {
    kind: "kind",
    pattern: pattern(
      `(?:(?:that|which)\\s+(?:is|are)\\s+)?(?:(?:still|currently|now)\\s+)?open(?:(?:\\s+(?:now|today))?(?=[\\s.?!\\0]*$)|(?=\\s+${CALLS})|(?<=(?:still|currently|now)\\s+open)(?!-|\\s+(?:access|data|science|source)))${NOT_ABOUT_OPENING}|(?:still\\s+|currently\\s+)?accepting\\s+(?:applications|proposals)`,
    ),
    read: (_, all) => (all.includes("OPEN") ? undefined : always({ status: [...openStatuses] })), // ARPA-E OPEN is a program.
  },
  {
    kind: "not",
    pattern: pattern(
      "(?:but\\s+not|except(?:\\s+for)?|excluding|other than|not)\\s+(?:(?:an?|the|for|about|any|on)\\s+)+(?!profit)(?<word>\\p{L}{3,})|(?:except(?:\\s+for)?|excluding|other than(?! full and open))\\s+(?<one>\\p{L}{3,})(?:\\s+(?:and|or)\\s+(?<another>\\p{L}{3,})(?=\\s*(?:$|[,.;?!\\0])))?",
    ),
    read: ({ word, one = word, another }) =>
      always({ words: [one, another].flatMap((each) => (each === undefined ? [] : `-${each.toLowerCase()}`)).join(" ") }),
  },
];

function amount(field: "min_amount" | "max_amount", groups: Groups) {
  const dollars = dollarsOf(groups, "");
  return dollars === undefined ? undefined : always({ [field]: dollars });
}

function numberOf(text: string): number {
  return /^\d/.test(text) ? Number(text) : (WORD_NUMBERS[text.toLowerCase()] ?? 1);
}

/** The same in any letter case, within a pattern that has both. */
function anyCase(source: string): string {
  return source.replace(/[A-Za-z]/g, (letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`);
}

/** A pattern of whole words in any letter case. */
function pattern(source: string): () => RegExp {
  return compiledAtUse(`(?<![\\p{L}\\p{N}-])(?:${source})(?![\\p{L}\\p{N}])`, "giu");
}

/** All patterns together take milliseconds, which a start of the program does without. */
function compiledAtUse(source: string, flags: string): () => RegExp {
  let compiled: RegExp | undefined;
  return () => {
    compiled ??= new RegExp(source, flags);
    return compiled;
  };
}
