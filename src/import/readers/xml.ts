/**
 * A strict XML reader in constant memory. It reads what is well-formed by XML 1.0 (fifth edition), with these exceptions:
 *
 * - Only UTF-8 is read.
 * - A document type may be named, but an internal subset (`<!DOCTYPE a [ … ]>`) is refused, and an external one is not read. So the only
 *   entities are the five of XML itself.
 * - Namespaces mean nothing: a colon is a character of a name.
 * - There are limits, named below.
 *
 * A fault that leaves the order of the tags clear is reported, and reading goes on: one bad record need not fail its file. Any other throws.
 *
 * A document has five places in this order, of which `prolog`, `typed` and `epilog` may be empty:
 *
 *     start     │ prolog           │ typed   │ content          │ epilog
 *     <?xml … ?>  <!-- … --> <? … ?> <!DOCTYPE … >  <a> … <b/> … </a>  <!-- … -->
 *
 * It comes in pieces. A tag, or a text, whose end has not come yet waits for more:
 *
 *     <a><b>one</b><b>two</b><b c="three│ d">four</│b></a>
 *     taken                  waiting    │ pieces   │ not written yet
 *                            └───────── text ──────┘
 *
 * It searches natively from tag to tag. For an extract of 312 MB it takes 0.8 s of processor time, of some 14 s for the whole import; the
 * library saxes takes 4 s. (E-18)
 */
import { messageOf } from "../../../db/reason.ts";
import {
  type Attributes,
  characterFault,
  checkDocumentType,
  checkXmlDeclaration,
  commentFault,
  instructionFault,
  isBlank,
  isSuspect,
  REFERENCE_MAX,
  readTag,
  SECTION_END,
  textFault,
  withoutReferences,
} from "./xml-syntax.ts";

/** Most characters of one tag, comment or section. The longest real text between two tags has some 100,000. */
const MARKUP_MAX = 10_000_000;
/** A text without a tag goes to its handler in pieces of this size. */
const TEXT_PIECE = 64 * 1024;
const DEPTH_MAX = 1_000_000;
/** Most characters of the source text of an element. The longest real record has some 100,000. */
export const SOURCE_MAX = 10_000_000;
/** Most names that are kept: a hostile file can have any number. */
const NAMES_MAX = 1000;

export type XmlHandlers = {
  open: (name: string, attributes: Attributes) => void;
  /** Text between two tags; called several times if it is long, or has comments or CDATA sections. */
  text: (text: string) => void;
  /** `source` is the element's exact text in the document, for elements at `sourceDepth`; undefined for others, and beyond `SOURCE_MAX`. */
  close: (name: string, source: string | undefined) => void;
  /** What is wrong with the last opened tag, the following text, or a comment or processing instruction. Texts stay as they are written. */
  fault: (reason: string) => void;
};

const [BANG, DOUBLE_QUOTE, SINGLE_QUOTE, SLASH, QUESTION] = [33, 34, 39, 47, 63];
const [COMMENT, SECTION] = ["<!--", "<![CDATA["];
const NO_ATTRIBUTES: Attributes = {};

/** Reads one document. It keeps the source text of elements at `sourceDepth`, where the root has depth 1. See the drawings above. */
export class XmlReader {
  private place: "start" | "prolog" | "typed" | "content" | "epilog" = "start";
  /** The names of the elements that are open. */
  private readonly openNames: string[] = [];
  /** Names of tags without attributes, so that each is read once. */
  private readonly knownNames = new Map<string, string>();

  private waiting = "";
  private pieces = "";
  private text = "";
  private isSuspect = false;
  /** Where in `text` the present markup is. */
  private markupStart = 0;
  private markupEnd = 0;
  /** The line of the document in which `waiting` begins. */
  private line = 1;
  private readonly source = new SourceText();

  constructor(
    private readonly handlers: XmlHandlers,
    private readonly sourceDepth = 0,
  ) {}

  /** Reads more of the document. Throws an Error with the line where it stops being XML. */
  write(piece: string): void {
    this.pieces += piece;
    // What waits is read again from its start. Reading only when the text has doubled keeps the time linear.
    if (this.pieces.length >= this.waiting.length) this.read();
  }

  /** Ends the document. Throws if its root is not closed. */
  end(): void {
    this.read();
    if (isBlank(this.waiting) && this.place === "epilog") return;
    const name = this.openNames.at(-1);
    const ending = `it ends ${name === undefined ? "without a whole root element" : `inside <${name}>`}`;
    throw new Error(`line ${this.line}: ${this.place === "epilog" ? "text outside the root element" : ending}`);
  }

  private read(): void {
    const text = this.waiting + this.pieces;
    this.text = text;
    this.pieces = "";
    this.isSuspect = isSuspect(text);
    let at = 0;
    try {
      for (let next = this.takeMarkup(at); next !== -1; next = this.takeMarkup(at)) at = next;
      at = this.takeLongText(at);
    } catch (error) {
      throw new Error(`line ${this.line + newlinesIn(text, Math.max(at, text.indexOf("<", at)))}: ${messageOf(error)}`);
    }
    this.line += newlinesIn(text, at);
    this.waiting = text.slice(at);
    this.source.keep(text, at);
    if (this.waiting.length > MARKUP_MAX)
      throw new Error(`line ${this.line}: a tag, comment or section of more than ${MARKUP_MAX} characters`);
  }

  /** Takes the text from `at` and the markup after it. Returns where the markup ends, or -1 if its end has not come yet. */
  private takeMarkup(at: number): number {
    const { text } = this;
    const start = text.indexOf("<", at);
    if (start === -1) return -1;
    const firstEnd = text.indexOf(">", start) + 1;
    if (firstEnd === 0) return -1;
    const kind = text.charCodeAt(start + 1);
    const isClosing = kind === SLASH;
    const isOther = kind === BANG || kind === QUESTION;
    const knownName = isClosing || isOther ? undefined : this.knownNames.get(text.slice(start + 1, firstEnd - 1));
    const end = isClosing || knownName !== undefined ? firstEnd : endOfMarkup(text, start);
    if (end === -1) return -1;
    if (start > at) this.takeText(text.slice(at, start));
    this.markupStart = start;
    this.markupEnd = end;
    if (isClosing) this.takeClosing(start + 2, end - 1);
    else if (knownName !== undefined) this.open(knownName, NO_ATTRIBUTES);
    else if (isOther) this.takeOther(text.slice(start, end));
    else this.takeOpening(text.slice(start + 1, end - 1));
    return end;
  }

  /** Takes the beginning of a long text that no tag follows yet. Returns where it ends. */
  private takeLongText(at: number): number {
    const { text } = this;
    if (text.length - at <= TEXT_PIECE || text.indexOf("<", at) !== -1) return at;
    const end = cutOf(text);
    this.takeText(text.slice(at, end));
    return end;
  }

  private takeText(text: string): void {
    if (this.place === "content") {
      if (this.isSuspect) this.report(textFault(text));
      this.passText(withoutReferences(text, this.handlers.fault));
    } else {
      if (!isBlank(text)) throw new Error("text outside the root element");
      if (this.place === "start") this.place = "prolog";
    }
  }

  private passText(text: string): void {
    this.handlers.text(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
  }

  private report(fault: string | undefined): void {
    if (fault !== undefined) this.handlers.fault(fault);
  }

  private takeOpening(tag: string): void {
    const faults: (string | undefined)[] = [this.isSuspect ? characterFault(tag) : undefined];
    const { name, attributes, isEmpty } = readTag(tag, (fault) => void faults.push(fault));
    if (tag === name && this.knownNames.size < NAMES_MAX) this.knownNames.set(tag, name);
    this.open(name, attributes);
    this.report(faults.find((fault) => fault !== undefined));
    if (isEmpty) this.close(name);
  }

  private takeClosing(start: number, end: number): void {
    const { text } = this;
    const name = this.openNames.at(-1) ?? "";
    const afterName = start + name.length;
    const matches = name !== "" && text.startsWith(name, start) && (afterName === end || isBlank(text.slice(afterName, end)));
    if (!matches)
      throw new Error(`</${text.slice(start, Math.min(end, start + 60))}> where ${name === "" ? "nothing is open" : `<${name}> is open`}`);
    this.close(name);
  }

  private open(name: string, attributes: Attributes): void {
    if (this.place !== "content") this.openRoot();
    const depth = this.openNames.push(name);
    if (depth > DEPTH_MAX) throw new Error(`elements are nested more than ${DEPTH_MAX} deep`);
    if (depth === this.sourceDepth) this.source.begin(this.markupStart);
    this.handlers.open(name, attributes);
  }

  private openRoot(): void {
    if (this.place === "epilog") throw new Error("a second root element");
    this.place = "content";
  }

  private close(name: string): void {
    this.handlers.close(name, this.openNames.length === this.sourceDepth ? this.source.take(this.text, this.markupEnd) : undefined);
    this.openNames.pop();
    if (this.openNames.length === 0) this.place = "epilog";
  }

  /** Takes a comment, a CDATA section, a processing instruction or a declaration. */
  private takeOther(markup: string): void {
    const { place } = this;
    if (place === "start") this.place = "prolog";
    if (markup.startsWith(SECTION)) this.takeSection(markup.slice(SECTION.length, -SECTION_END.length));
    else if (markup.startsWith(COMMENT)) this.report(commentFault(markup));
    else if (place === "start" && /^<\?xml[ \t\r\n?]/.test(markup)) checkXmlDeclaration(markup);
    else if (markup.startsWith("<?")) this.report(instructionFault(markup));
    else this.takeDocumentType(markup);
  }

  private takeSection(text: string): void {
    if (this.place !== "content") throw new Error("text outside the root element");
    if (this.isSuspect) this.report(characterFault(text));
    this.passText(text);
  }

  private takeDocumentType(markup: string): void {
    if (this.place !== "prolog") throw new Error(`a declaration where none may be: ${markup.slice(0, 60)}`);
    checkDocumentType(markup);
    this.place = "typed";
  }
}

/** The exact text of one element, from several texts of the reader. */
class SourceText {
  private kept = "";
  /** Where in the present text the element begins or goes on; -1 outside of such an element. */
  private start = -1;

  begin(at: number): void {
    this.start = at;
  }

  /** Keeps what the present text has of the element. The next text begins with what follows `end`. */
  keep(text: string, end: number): void {
    if (this.start === -1) return;
    if (this.kept.length <= SOURCE_MAX) this.kept += text.slice(this.start, end);
    this.start = 0;
  }

  /** Ends the element. Returns its text; undefined if it is too long. */
  take(text: string, end: number): string | undefined {
    const whole = this.kept.length > SOURCE_MAX ? undefined : this.kept + text.slice(this.start, end);
    this.kept = "";
    this.start = -1;
    return whole;
  }
}

/** The end of the markup that begins at `start`, exclusive, or -1 if it is not in the text. */
function endOfMarkup(text: string, start: number): number {
  if (text.startsWith(COMMENT, start)) return endOf("-->", text, start + COMMENT.length);
  if (text.startsWith(SECTION, start)) return endOf(SECTION_END, text, start);
  if (text.startsWith("<?", start)) return endOf("?>", text, start + 2);
  return endOfTag(text, start);
}

/** The end of a tag: its first ">" outside of attribute values. */
function endOfTag(text: string, start: number): number {
  let end = text.indexOf(">", start);
  for (let at = start; end !== -1; at++) {
    if (at > end) end = text.indexOf(">", at);
    if (at === end) return end + 1;
    const code = text.charCodeAt(at);
    if (code !== DOUBLE_QUOTE && code !== SINGLE_QUOTE) continue;
    at = text.indexOf(code === DOUBLE_QUOTE ? '"' : "'", at + 1);
    if (at === -1) return -1;
  }
  return -1;
}

function endOf(mark: string, text: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
}

/** What must not be cut in two: a reference, a line break, a pair of surrogates, and the end of a section. */
const WHOLE = new RegExp(`&[^&;]{0,${REFERENCE_MAX - 2}};|\\r\\n|[\\ud800-\\udbff][\\udc00-\\udfff]|\\]\\]>`, "g");

/** Where a text that goes on is cut: near its end, and between two wholes. */
function cutOf(text: string): number {
  const end = text.length - REFERENCE_MAX;
  const from = end - REFERENCE_MAX;
  for (const { 0: whole, index } of text.slice(from).matchAll(WHOLE)) {
    const start = from + index;
    if (start < end && start + whole.length > end) return start;
  }
  return end;
}

function newlinesIn(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
