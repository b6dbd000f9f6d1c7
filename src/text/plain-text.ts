/** Text of upstreams that may hold HTML: entities, mark-up and white space taken out of the way. */

const SUMMARY_LENGTH = 500;
/** The head of a long text that is tried first for its summary, and how much more than a summary it must give to be trusted. */
const HEAD_LENGTH = 1000;
const HEAD_MARGIN = 100;
/** Text is decoded again while that changes it, as upstreams escape twice, but not for ever. */
const DECODINGS_MAX = 8;

/** Plain text without mark-up, entities decoded, white space collapsed, NFC. */
export function plainText(text: string): string {
  if (text === "") return "";
  return tidy(dropMarkup(decodeEntities(text)));
}

/** The first 500 characters or so in plain text, ending with a whole word; null where there is none. */
export function summaryOf(text: string | null | undefined): string | null {
  if (!text) return null;
  const plain = plainHead(text) ?? plainText(text);
  if (plain.length <= SUMMARY_LENGTH) return plain === "" ? null : plain;
  const lastBlank = plain.lastIndexOf(" ", SUMMARY_LENGTH);
  return `${plain.slice(0, lastBlank > SUMMARY_LENGTH / 2 ? lastBlank : SUMMARY_LENGTH).toWellFormed()}…`;
}

/** Whether two texts are the same when white space, letter case, punctuation, mark-up and entities do not count. */
export function readAlike(one: string, other: string): boolean {
  const [a, b] = [plainText(one), plainText(other)];
  for (let [i, j] = [0, 0]; ; i++, j++) {
    while (bareAscii[a.charCodeAt(i)] === "") i++;
    while (bareAscii[b.charCodeAt(j)] === "") j++;
    const [x, y] = [bareAscii[a.charCodeAt(i)], bareAscii[b.charCodeAt(j)]];
    if (x === undefined || y === undefined) return bare(a) === bare(b); // Of what is not ASCII, characters around it decide too.
    if (x !== y) return false;
  }
}

function bare(plain: string): string {
  return plain
    .toUpperCase()
    .toLowerCase() // By way of upper case, so that "ß" is "SS".
    .replace(/[\p{P}\s]+/gu, ""); // Absent, not alike: "co-op" reads as "coop", "web site" as "website".
}

/** What is left of each ASCII character. */
const bareAscii = Array.from({ length: 128 }, (_, code) => bare(String.fromCharCode(code)));

/** Decodes character references until none is left, as upstreams escape once, twice or not at all. */
export function decodeEntities(text: string): string {
  let decoded = text;
  for (let round = 0; round < DECODINGS_MAX && decoded.includes("&"); round++) {
    const next = decoded.replace(REFERENCE, decodeOne);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

/** A long text's head says enough for a summary, unless mark-up takes most of it. */
function plainHead(text: string): string | undefined {
  if (text.length <= HEAD_LENGTH) return undefined;
  const whole = decodeEntities(text.slice(0, HEAD_LENGTH)).replace(/<[^>]*$/, ""); // A tag that the cut went through.
  const plain = tidy(dropMarkup(whole));
  return plain.length > SUMMARY_LENGTH + HEAD_MARGIN ? plain : undefined;
}

function dropMarkup(text: string): string {
  if (!text.includes("<")) return text;
  return text.replace(HIDDEN, " ").replace(INLINE_TAG, "").replace(TAG, " ");
}

// Each looks for its end at most once a "<" or takes all the rest, so that none is slow on text made to be.
const HIDDEN = /<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi;
const INLINE_TAG = /<\/?(?:a|abbr|b|big|del|em|font|i|ins|mark|o:p|s|small|span|strong|sub|sup|u|wbr)(?=[\s/>])[^<>]*>/gi;
const TAG = /<[/!?]?[a-z][a-z0-9:-]*(?=[\s/>])[^<>]*>/gi;

/**
 * Unicode's Stream-Safe Text Format (UAX #15): after 30 marks on one character stands a combining grapheme joiner. Normalizing sorts the
 * marks of a run by insertion, so its time grows with the square of the run.
 */
function streamSafe(text: string): string {
  return text.length < RUN_FROM ? text : text.replace(MARKS, "$&\u034f");
}

const MARKS = /\p{M}{30}/gu;
/** No run in a shorter text takes long. */
const RUN_FROM = 1000;

/** Soft hyphens and zero-width characters go without a trace, other runs of white space become one blank. */
function tidy(text: string): string {
  if (!BEYOND_ASCII.test(text) && !text.includes("  ")) return text.trim();
  const collapsed = text
    .replace(/[\u00ad\u200b\u2060\ufeff]+/g, "")
    .replace(/\s{2,}|[^\S ]/g, " ") // Not single blanks, which are most of a text.
    .trim();
  return streamSafe(collapsed).normalize("NFC");
}

/** Printable ASCII is tidy but for its blanks. */
const BEYOND_ASCII = /[^ -~]/;

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,30}));/g;

function decodeOne(whole: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return named.get(name) ?? whole;
  return characterOf(decimal === undefined ? Number.parseInt(hexadecimal ?? "", 16) : Number(decimal)) ?? whole;
}

/** HTML reads the numbers 128 to 159 as Windows-1252, and so do its writers. NUL and surrogates stay as they are written. */
function characterOf(code: number): string | undefined {
  if (code >= 0x80 && code <= 0x9f) return windows1252.decode(new Uint8Array([code]));
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return String.fromCodePoint(code);
}

const windows1252 = new TextDecoder("windows-1252");

/** The character entities of HTML 4, and `apos`: those of Latin-1 in their order from 160 on, then names with their characters. */
const LATIN_1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot " +
  "cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml " +
  "Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
  "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute " +
  "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";
const OTHERS =
  "amp & lt < gt > quot \" apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ tilde ˜ ndash – mdash — lsquo ‘ rsquo ’ " +
  "sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ " +
  "euro € image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ " +
  "forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ " +
  "or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ " +
  "perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦ Alpha Α Beta Β Gamma Γ " +
  "Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ " +
  "Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ " +
  "omicron ο pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω thetasym ϑ upsih ϒ piv ϖ";
// The blanks and marks that cannot be seen are written by number.
const INVISIBLE: [string, number][] = [
  ["ensp", 0x2002],
  ["emsp", 0x2003],
  ["thinsp", 0x2009],
  ["zwnj", 0x200c],
  ["zwj", 0x200d],
  ["lrm", 0x200e],
  ["rlm", 0x200f],
];

const named = new Map<string, string>([
  ...LATIN_1.split(" ").map((name, index): [string, string] => [name, String.fromCodePoint(160 + index)]),
  ...OTHERS.matchAll(/(\S+) (\S)/gu).map(([, name = "", character = ""]): [string, string] => [name, character]),
  ...INVISIBLE.map(([name, code]): [string, string] => [name, String.fromCodePoint(code)]),
]);
