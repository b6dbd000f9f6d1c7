/** The style sheet and the markup of all pages: what one part of a page must not do to another. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import styleFile from "../../src/browse/style.css" with { type: "text" };
import baseStyle from "../../src/http/base.css" with { type: "text" };
import { dropScratch } from "../support/imports.ts";
import { allPictured, type Pictured } from "../support/pictured.ts";

setDefaultTimeout(300_000);

let pages: readonly Pictured[];
beforeAll(async () => {
  pages = (await allPictured()).filter(({ kind }) => kind === "page");
});
afterAll(dropScratch);

/** The classes of each compound selector, as [["day", "past"], ["status"]]. */
function compounds(sheet: string): string[][] {
  const selectors = [...sheet.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{/g)].map(([, selector = ""]) => selector.trim());
  const plain = selectors.filter((selector) => !selector.startsWith("@")).map((selector) => selector.replaceAll(/:not\([^()]*\)/g, ""));
  return plain.flatMap((selector) => (selector.match(/(\.[\w-]+)+/g) ?? []).map((each) => each.slice(1).split(".")));
}

const all = compounds(baseStyle + styleFile);
/** Classes that are styled wherever they stand. */
const names = new Set(all.filter((classes) => classes.length === 1).flat());
/** Classes that are styled only together with another one, which they vary: `past` of `.day.past`. */
const states = new Set(all.flatMap((classes) => classes.slice(1)));

/** A text of less weight, which may be a part with another name as well. */
const COLOR = "quiet";

/** The classes of each element that has any. */
function classesIn({ html }: Pictured): string[][] {
  return [...html.matchAll(/ class="([^"]*)"/g)].map(([, classes = ""]) => classes.split(/\s+/).filter(Boolean));
}

test("a class is styled as a part of a page or as the state of one, never as both", () => {
  expect([...names].filter((name) => states.has(name))).toEqual([]);
});

test("an element is one part of a page: no second class brings the style of another", () => {
  const mixed = pages.flatMap((page) =>
    classesIn(page).filter((classes) => classes.filter((name) => names.has(name) && name !== COLOR).length > 1),
  );
  expect([...new Set(mixed.map((classes) => classes.join(" ")))]).toEqual([]);
});

test("every class of the style sheet is on some page", () => {
  const used = new Set(pages.flatMap(classesIn).flat());
  expect([...names, ...states].filter((name) => !used.has(name))).toEqual([]);
});

const sheet = baseStyle + styleFile;

test("texts have the sizes of one scale", () => {
  const sizes = [...sheet.matchAll(/font-size: ([^;]+);/g)].map(([, size]) => size);
  expect(sizes.filter((size) => !/^var\(--(small|text-size|large|title|page-title)\)$/.test(size ?? ""))).toEqual([]);
});

test("what is apart is apart by the steps of one scale", () => {
  const steps = ["0.125", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "4"];
  const spaces = [...sheet.matchAll(/(?:margin|padding|gap)[a-z-]*: ([^;]+);/g)].flatMap(
    ([, value = ""]) => value.match(/[\d.]+(?=rem)/g) ?? [],
  );
  // A label takes the room that its column leaves free, and a button the height of a label above it.
  expect(spaces.filter((space) => !steps.includes(space))).toEqual([]);
});

test("no page has an empty list, table or paragraph", () => {
  const empty = /<(ul|ol|dl|p|table|tbody|section|nav|figure|aside)( [^>]*)?>\s*<\/\1>/g;
  const found = pages.flatMap(({ name, html }) => [...html.matchAll(empty)].map(([tag]) => `${name}: ${tag}`));
  expect([...new Set(found)]).toEqual([]);
});
