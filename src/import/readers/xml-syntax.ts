/** The parts of XML 1.0 (fifth edition) that stand between "<" and ">", and texts. Numbers in brackets are the specification's productions. */
import { hasStrayByte } from "../../text/utf8.ts";

export type Attributes = { readonly [name: string]: string };

/** [3] White space: less than `\s` matches. */
const S = "[ \\t\\r\\n]";
/** [4] */
const NAME_START =
  ":A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}\\u{200d}\\u{2070}-\\u{218f}" +
  "\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}";
/** [5] */
const NAME = `[${NAME_START}][${NAME_START}\\-.0-9\\u{b7}\\u{300}-\\u{36f}\\u{203f}\\u{2040}]*`;

const BLANK = new RegExp(`^${S}*$`);

/** Whether a text is white space, or empty. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/* Characters and references */

/** What [2] does not allow, apart from lone surrogates. */
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
export const SECTION_END = "]]>";

/** Whether a piece of a document has something that is a fault in some places. A piece without it needs no closer look. */
export function isSuspect(piece: string): boolean {
  return FORBIDDEN.test(piece) || !piece.isWellFormed() || piece.includes(SECTION_END);
}

/** What is wrong with the characters of a text. */
export function characterFault(text: string): string | undefined {
  if (!FORBIDDEN.test(text) && text.isWellFormed()) return undefined;
  return hasStrayByte(text) ? "a byte that is not UTF-8" : "a character that XML does not allow";
}

/** What is wrong with a text between two tags, apart from its references. */
export function textFault(text: string): string | undefined {
  return characterFault(text) ?? (text.includes(SECTION_END) ? `"${SECTION_END}" outside of a CDATA section` : undefined);
}

/** [66] and [68], with up to fifty zeros before a number, or an ampersand alone. */
const REFERENCE = /&(?:(amp|lt|gt|quot|apos)|#0{0,50}(\d{1,7})|#x0{0,50}([0-9a-fA-F]{1,6}));|&/g;
/** Longest reference, with fifty zeros. */
export const REFERENCE_MAX = 60;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text with characters in place of its references. A reference that XML does not have stays, and is reported. */
export function withoutReferences(text: string, report: (fault: string) => void): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (whole: string, name?: string, decimal?: string, hexadecimal?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const character = characterOf(decimal === undefined ? Number.parseInt(hexadecimal ?? "0", 16) : Number(decimal));
    if (character === undefined) report(whole === "&" ? 'an "&" that begins no entity of XML' : `${whole}, which is no character of XML`);
    return character ?? whole;
  });
}

function characterOf(code: number): string | undefined {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  const character = String.fromCodePoint(code);
  return FORBIDDEN.test(character) ? undefined : character;
}

/* Tags */

/** [40] and [44], without the angle brackets. */
const TAG = new RegExp(`^(${NAME})((?:${S}+${NAME}${S}*=${S}*(?:"[^<"]*"|'[^<']*'))*)${S}*(/?)$`, "u");
const ATTRIBUTE = new RegExp(`(${NAME})${S}*=${S}*(?:"([^"]*)"|'([^']*)')`, "gu");
const NO_ATTRIBUTES: Attributes = {};

type Tag = { name: string; attributes: Attributes; isEmpty: boolean };

/** Reads an opening tag, without its angle brackets. Throws if it is none; reports references that XML does not have. */
export function readTag(tag: string, report: (fault: string) => void): Tag {
  const [, name, attributes = "", slash] = TAG.exec(tag) ?? [];
  if (name === undefined) throw new Error(`<${tag.slice(0, 60)}> is no tag`);
  return { name, attributes: attributes === "" ? NO_ATTRIBUTES : readAttributes(attributes, report), isEmpty: slash === "/" };
}

function readAttributes(text: string, report: (fault: string) => void): Attributes {
  const attributes: Record<string, string> = Object.create(null); // An attribute may be called anything, `__proto__` too.
  for (const [, name = "", double, single = ""] of text.matchAll(ATTRIBUTE)) {
    if (name in attributes) throw new Error(`the attribute ${name} is there twice`);
    attributes[name] = withoutReferences(double ?? single, report);
  }
  return attributes;
}

/* Comments, processing instructions and declarations, with their angle brackets */

/** What is wrong with a comment [15]. */
export function commentFault(comment: string): string | undefined {
  const text = comment.slice("<!--".length, -"-->".length);
  return text.includes("--") || text.endsWith("-") ? 'a comment with "--"' : characterFault(text);
}

/** [16] */
const INSTRUCTION = new RegExp(`^<\\?(${NAME})(?:\\?>$|${S})`, "u");

/** What is wrong with a processing instruction. */
export function instructionFault(instruction: string): string | undefined {
  const [, target] = INSTRUCTION.exec(instruction) ?? [];
  if (target === undefined) return "a processing instruction without a name";
  return /^xml$/i.test(target) ? `a processing instruction named "${target}"` : characterFault(instruction);
}

/** [23] */
const XML_DECLARATION = new RegExp(
  `^<\\?xml${S}+version${S}*=${S}*(?:"1\\.[0-9]+"|'1\\.[0-9]+')` +
    `(?:${S}+encoding${S}*=${S}*(?:"([A-Za-z][\\w.-]*)"|'([A-Za-z][\\w.-]*)'))?` +
    `(?:${S}+standalone${S}*=${S}*(?:"(?:yes|no)"|'(?:yes|no)'))?${S}*\\?>$`,
);

/** Throws unless this is an XML declaration, of an encoding that is also UTF-8. */
export function checkXmlDeclaration(declaration: string): void {
  const [whole, double, single] = XML_DECLARATION.exec(declaration) ?? [];
  if (whole === undefined) throw new Error(`${declaration.slice(0, 60)} is no XML declaration`);
  const encoding = double ?? single ?? "UTF-8";
  if (!/^(utf-?8|us-ascii)$/i.test(encoding)) throw new Error(`its encoding is ${encoding}, not UTF-8`);
}

/** [28] without an internal subset; [12] for the public identifier. */
const DOCUMENT_TYPE = new RegExp(
  `^<!DOCTYPE${S}+${NAME}(?:${S}+(?:SYSTEM|PUBLIC${S}+(?:"[-'()+,./:=?;!*#@$_%\\w \\r\\n]*"|'[-()+,./:=?;!*#@$_%\\w \\r\\n]*'))` +
    `${S}+(?:"[^"]*"|'[^']*'))?${S}*>$`,
  "u",
);

/** Throws unless this names a document type, without an internal subset. */
export function checkDocumentType(declaration: string): void {
  if (DOCUMENT_TYPE.test(declaration)) return;
  const fault = declaration.includes("[") ? "declarations of a document type are refused" : "it is no document type";
  throw new Error(`${fault}: ${declaration.slice(0, 60)}`);
}
