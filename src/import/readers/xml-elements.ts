/**
 * Finds the elements in the root of an XML document one by one, in bounded memory: where each begins and ends. `Bun.XML`, a conforming
 * processor, parses the text around them, and each element whose content is requested. An element that is not well-formed is rejected alone; a
 * fault elsewhere rejects the document. An element has at most 3,000,000 characters: two million tags in ten took
 * 0.9 GB.
 *
 *     <?xml … ?><Grants> │ <Record> … </Record> │ <!-- … --> │ <Record> … </Record> │ </Grants>
 *     head                 element                between      element                rest
 *
 * Tags in comments, CDATA sections and processing instructions are ignored.
 */
import { XML } from "bun";
import { messageOf } from "../../../db/reason.ts";
import { hasStrayByte } from "../../text/utf8.ts";
import { utf8Text } from "./input.ts";

/** Most characters of an element, and between two. Real elements have up to 100,000. */
export const SOURCE_MAX = 3_000_000;
const SHOWN_MAX = 100_000;

/** An element and its exact text, or the beginning if that is too long. */
export type XmlElement = {
  name: string;
  source: string;
  parse: () => XmlContent | { fault: string };
};

/** The texts of the child elements, which take a third less time; or the whole element, if they do not tell all. */
type XmlContent = { texts: XmlTexts } | { element: XML.Node };

export type XmlTexts = { [name: string]: string | string[] };

/** Text between such a pair of marks has no tags. */
const untagged: Readonly<Record<string, string>> = { "<!--": "-->", "<![CDATA[": "]]>", "<?": "?>" };
const UNTAGGED = "<(?:!--|!\\[CDATA\\[|\\?)";
const START = new RegExp(`${UNTAGGED}|</|<([^\\s<>/!?"']+)(?![^\\s<>/!?"'])[^<>"']*(?:(?:"[^<"]*"|'[^<']*')[^<>"']*)*>`, "g");

/** Throws if the document is damaged, its root has another name, or something in it is too long. */
export async function* xmlElements(bytes: AsyncIterable<Uint8Array>, root: string): AsyncIterable<XmlElement> {
  let [text, pieces, from, count] = ["", "", 0, 0];
  let rootName = "";
  let open: { name: string; end: RegExp; isTooLong: boolean } | undefined;
  let isClosed = false;
  let [endName, endTag] = ["", /(?:)/g];

  function* takeElements(): Iterable<XmlElement> {
    text += pieces;
    pieces = "";
    let start = 0;
    while (!isClosed) {
      const pattern = open?.end ?? START;
      pattern.lastIndex = from;
      const [mark, name = ""] = pattern.exec(text) ?? [];
      if (mark === undefined) {
        const last = text.lastIndexOf("<");
        const isWhole = last < from || (open !== undefined && text.indexOf(">", last) !== -1);
        from = isWhole ? text.length : last; // The last tag may be incomplete.
        break;
      }
      const end = pattern.lastIndex;
      const closing = untagged[mark];
      if (closing !== undefined) {
        const at = text.indexOf(closing, end);
        from = at === -1 ? end - mark.length : at + closing.length;
        if (at === -1) break;
        continue;
      }
      from = end;
      if (open !== undefined) {
        yield elementOf(open, text.slice(start, end));
        open = undefined;
        count++;
        start = end;
      } else if (mark === "</") isClosed = true;
      else if (rootName === "") {
        checkRoot(text.slice(0, end), name, root);
        isClosed = mark.endsWith("/>");
        if (!isClosed) [rootName, start] = [name, end];
      } else {
        const begin = end - mark.length;
        if (text.slice(start, begin).trim() !== "") parsed(`<${rootName}>${text.slice(start, begin)}</${rootName}>`);
        start = begin;
        if (name !== endName) [endName, endTag] = [name, endTagOf(name)];
        open = { name, end: mark.endsWith("/>") ? /(?<=>)/g : endTag, isTooLong: false };
      }
    }
    text = text.slice(start);
    from -= start;
    if (text.length <= SOURCE_MAX) return;
    if (open === undefined || text.length - from > SOURCE_MAX)
      throw new Error(`a tag, comment, section or text of more than ${SOURCE_MAX} characters`);
    open.isTooLong = true;
    const shown = text.slice(0, Math.min(from, SHOWN_MAX));
    text = shown + text.slice(from);
    from = shown.length;
  }

  try {
    for await (const piece of utf8Text(bytes, ">")) {
      pieces += piece;
      // Read again from `from`. Waiting until it has doubled keeps the time linear.
      if (pieces.length >= text.length) yield* takeElements();
    }
    yield* takeElements();
    if (open !== undefined) throw new Error(`it ends inside <${open.name}>`);
    parsed(rootName === "" ? text : `<${rootName}>${text}`);
  } catch (error) {
    throw new Error(`${messageOf(error)}, after ${count} elements`, { cause: error });
  }
}

/** Throws unless the head is one of a document in UTF-8 with this root. */
function checkRoot(head: string, name: string, root: string): void {
  if (/<!DOCTYPE[^<>]*\[/.test(head)) throw new Error("declarations of a document type are refused");
  const [, encoding = "UTF-8"] = /^\s*<\?xml\s[^>]*\sencoding\s*=\s*["']([^"']*)/.exec(head) ?? [];
  if (!/^(utf-?8|us-ascii)$/i.test(encoding)) throw new Error(`its encoding is ${encoding}, not UTF-8`);
  parsed(head.endsWith("/>") ? head : `${head}</${name}>`);
  if (localName(name) !== root) throw new Error(`its root element is ${name}, not ${root}`);
}

function endTagOf(name: string): RegExp {
  return new RegExp(`${UNTAGGED}|</${RegExp.escape(name)}\\s*>`, "g");
}

/** Throws if another element of its name begins in it and it is not well-formed: then its end is unknown. */
function elementOf({ name, isTooLong }: { name: string; isTooLong: boolean }, source: string): XmlElement {
  if (isTooLong || source.length > SOURCE_MAX) {
    const fault = `the element must have at most ${SOURCE_MAX} characters`;
    return { name, source: source.slice(0, SHOWN_MAX), parse: () => ({ fault }) };
  }
  if (source.includes(`<${name}`, 1) && new RegExp(`<${RegExp.escape(name)}[\\s/>]`).test(source.slice(1))) parsed(source);
  return { name, source, parse: () => contentOf(name, source) };
}

function contentOf(name: string, source: string): XmlContent | { fault: string } {
  try {
    const content = XML.parse(source)[name] ?? "";
    const texts = typeof content === "string" ? {} : content;
    if (areTexts(texts)) return { texts };
    return { element: parsed(source) };
  } catch (error) {
    return { fault: `the element is not well-formed: ${reasonOf(source, error)}` };
  }
}

function areTexts(content: XML.Element): content is XmlTexts {
  for (const name in content) {
    const value = content[name];
    if (typeof value !== "string" && !(Array.isArray(value) && value.every((each) => typeof each === "string"))) return false;
  }
  return true;
}

function reasonOf(text: string, error: unknown): string {
  return hasStrayByte(text) ? "a byte that is not UTF-8" : messageOf(error).replace("XML Parse error: ", "");
}

function parsed(text: string): XML.Node {
  try {
    return XML.parse(text, { compact: false });
  } catch (error) {
    throw new Error(reasonOf(text, error), { cause: error });
  }
}

/** The name without its prefix. */
export function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
