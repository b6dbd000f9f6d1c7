/**
 * Every page and mail as a picture, compared with the ones that were accepted (`tests/browser/pictures`). `bun run pictures` writes them into the
 * folder `pictures` with one sheet of all; `bun run pictures:accept` also accepts them.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pixelmatch from "pixelmatch";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { CHROMIUM, launchChromium, newPage } from "../support/chromium.ts";
import { onPostgres } from "../support/database-locations.ts";
import { dropScratch } from "../support/imports.ts";
import { allPictured, fileOfPages, PICTURED_ORIGIN, type Pictured } from "../support/pictured.ts";

setDefaultTimeout(300_000);

const ACCEPTED = join(import.meta.dir, "pictures");
const MADE_WITH = join(ACCEPTED, "made-with.json");
const { PICTURES: OUT, ACCEPT_PICTURES: ACCEPT } = process.env;
/** Drawing is the same everywhere: fonts are the package's, and letters have no hints and no colored edges. */
const FLAGS = [
  "font-render-hinting=none",
  "disable-lcd-text",
  "disable-font-subpixel-positioning",
  "force-color-profile=srgb",
  "hide-scrollbars",
];
/** A pixel differs if its color is this far away (of 1, as the eye sees it); of a picture this share of pixels may. */
const [COLOR_TOLERANCE, SHARE_TOLERANCE] = [0.1, 0.0002];
const views = [
  { name: "desktop-light", width: 1280, scheme: "light" },
  { name: "desktop-dark", width: 1280, scheme: "dark" },
  { name: "phone-light", width: 390, scheme: "light" },
  { name: "phone-dark", width: 390, scheme: "dark" },
] as const;
/** Pages whose first result must be on the first screen of a phone. */
const FIRST_SCREEN = ["home", "home-of-a-server", "find", "find-one", "find-over", "changes", "changes-few"];
/** Pages that are compared in dark, too: together they have every part. */
const IN_DARK = [
  "find",
  "opportunity-every-part",
  "changes",
  "deadlines",
  "sources",
  "months",
  "watch-with-everything",
  "mail-every-section",
];
/** Colors of an accepted picture, which so takes at most half a byte for a pixel. */
const COLORS = 16;
/** Pixels of a page from its top, as it is drawn and as it is compared: what is below is more of the same. */
const [DRAWN_MAX, COMPARED_MAX] = [6000, 1600];

/** `probe` is the hash of a picture of signs and fields: other fonts of the machine draw them otherwise. */
type MadeWith = { chromium: string; arch: string; probe: string };
const whySkipped = await skipReason();
if (whySkipped !== undefined) process.stderr.write(`SKIPPED: the pictures of the pages are not compared: ${whySkipped}\n`);

/** Why pictures made here cannot be compared with the accepted ones; undefined if they can. */
async function skipReason(): Promise<string | undefined> {
  if (onPostgres) return "they are the same on PostgreSQL";
  if (!existsSync(CHROMIUM)) return `they need ${CHROMIUM} (apt-get install chromium)`;
  if (OUT !== undefined) return undefined;
  if (!existsSync(MADE_WITH)) return "none has been accepted";
  const [wanted, here] = [acceptedWith(), await chromiumHere()];
  if (wanted.chromium === here.chromium && wanted.arch === here.arch) return undefined;
  return `they were made with Chromium ${wanted.chromium} on ${wanted.arch}, and here is ${here.chromium} on ${here.arch}`;
}

function acceptedWith(): MadeWith {
  return JSON.parse(readFileSync(MADE_WITH, "utf8"));
}

async function chromiumHere(): Promise<Omit<MadeWith, "probe">> {
  const output = await new Response(Bun.spawn([CHROMIUM, "--version"], { stderr: "ignore" }).stdout).text();
  return { chromium: /[\d.]{5,}/.exec(output)?.[0] ?? "unknown", arch: process.arch };
}

/** What no font of the package has, and what Chromium draws by itself. */
const PROBE = `✕ ▲ ◆ … – “é” 漢 <input type="date"> <input type="checkbox" checked> <select><option>one</select> <details><summary>more</summary></details>`;

const font = (weight: number) => {
  const file = Bun.fileURLToPath(import.meta.resolve(`@fontsource/noto-sans/files/noto-sans-latin-${weight}-normal.woff2`));
  return `@font-face{font-family:Pictured;font-weight:${weight};src:url(data:font/woff2;base64,${readFileSync(file).toString("base64")})}`;
};

describe.skipIf(whySkipped !== undefined)("the pictures", () => {
  let all: readonly Pictured[];
  let browser: Browser;
  let page: Page;
  let current: Pictured | undefined;
  const made = new Map<string, Buffer>();

  beforeAll(async () => {
    all = await allPictured();
    const fonts = `${[400, 600, 700].map(font).join("")} *{font-family:Pictured !important}`;
    browser = await launchChromium(FLAGS.map((flag) => `--${flag}`));
    page = await newPage(browser, { bypassCSP: true, locale: "en-US", timezoneId: "America/New_York" });
    await page.route("**/*", (route) => {
      const file = fileOfPages(new URL(route.request().url()).pathname);
      if (file !== undefined)
        return route.fulfill({ contentType: file.contentType, body: file.contentType.includes("css") ? file.text + fonts : file.text });
      const html = current?.kind !== "page" ? current?.html.replace("</head>", () => `<style>${fonts}</style></head>`) : current?.html;
      return route.fulfill({ contentType: "text/html; charset=utf-8", body: html ?? "" });
    });
  });
  afterAll(async () => {
    await browser?.close();
    dropScratch();
  });

  for (const { name: view, width, scheme } of views) {
    test(`of all pages and mails, ${view}, show no empty box, and results on the first screen`, async () => {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme: scheme });
      for (const pictured of all) {
        if (OUT === undefined && scheme === "dark" && !IN_DARK.includes(pictured.name)) continue;
        current = pictured;
        await page.goto(`${PICTURED_ORIGIN}/${pictured.name}`);
        expect([pictured.name, await page.evaluate(EMPTY_BOXES)]).toEqual([pictured.name, []]);
        if (width === 390 && FIRST_SCREEN.includes(pictured.name)) {
          const top = await page.evaluate<number>("document.querySelector('.result').getBoundingClientRect().top");
          expect([pictured.name, top < 844 - 24]).toEqual([pictured.name, true]); // Its title is above the edge.
        }
        const most = OUT === undefined ? COMPARED_MAX : DRAWN_MAX;
        const height = Math.min(most, await page.evaluate<number>("document.documentElement.scrollHeight"));
        made.set(`${pictured.name}-${view}`, await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height } }));
      }
    });
  }

  test.skipIf(OUT === undefined)("are written, with one sheet of all", async () => {
    const out = OUT ?? "";
    mkdirSync(out, { recursive: true });
    for (const [name, picture] of made) writeFileSync(join(out, `${name}.png`), picture);
    current = { name: "sheet", kind: "page", html: await sheetOf(all, made) };
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1600, height: 1000 });
    await page.goto(`${PICTURED_ORIGIN}/sheet`);
    await page.screenshot({ path: join(out, "sheet.png"), fullPage: true });
  });

  test.skipIf(ACCEPT === undefined)("are accepted", async () => {
    rmSync(ACCEPTED, { recursive: true, force: true });
    mkdirSync(ACCEPTED, { recursive: true });
    for (const [name, picture] of compared()) writeFileSync(join(ACCEPTED, `${name}.png`), await reduced(picture));
    writeFileSync(MADE_WITH, `${JSON.stringify({ ...(await chromiumHere()), probe: await probed() }, null, 2)}\n`);
  });

  test("look as the accepted ones", async () => {
    if (!existsSync(MADE_WITH)) return;
    if (acceptedWith().probe !== (await probed())) {
      process.stderr.write("SKIPPED: the pictures of the pages are not compared: this machine draws signs and fields with other fonts\n");
      return;
    }
    const names = readdirSync(ACCEPTED)
      .filter((name) => name.endsWith(".png"))
      .map((name) => name.slice(0, -".png".length));
    const now = compared();
    const [added, gone] = [[...now.keys()].filter((name) => !names.includes(name)), names.filter((name) => !now.has(name))];
    const different: string[] = [];
    for (const [name, picture] of now) {
      if (added.includes(name)) continue;
      const difference = await differenceOf(readFileSync(join(ACCEPTED, `${name}.png`)), await reduced(picture));
      if (difference === undefined) continue;
      const path = join(OUT ?? "pictures", `different-${name}.png`);
      mkdirSync(OUT ?? "pictures", { recursive: true });
      writeFileSync(path, difference);
      different.push(path);
    }
    const news = [
      ...different.map((path) => `${path} shows the accepted picture, what it is now, and where they differ`),
      ...added.map((name) => `${name} is new`),
      ...gone.map((name) => `${name} is gone`),
    ];
    if (news.length === 0) return;
    throw new Error(`${news.join("\n")}\nIf that is as it should be: bun run pictures:accept, and look at pictures/sheet.png`);
  });

  /** The pictures that are compared. */
  function compared(): Map<string, Buffer> {
    return new Map([...made].filter(([name]) => !name.endsWith("-dark") || IN_DARK.includes(name.replace(/-(desktop|phone)-dark$/, ""))));
  }

  async function probed(): Promise<string> {
    current = { name: "probe", kind: "mail", html: `<!doctype html><head></head><body>${PROBE}` };
    await page.setViewportSize({ width: 800, height: 200 });
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(`${PICTURED_ORIGIN}/probe`);
    return Bun.CryptoHasher.hash("sha256", await pixelsOf(await page.screenshot(), 800, 200), "hex");
  }
});

/** The picture as accepted ones are stored: its upper part, with few colors. Equal pictures stay equal. */
async function reduced(picture: Buffer): Promise<Buffer> {
  const { width, height } = await sharp(picture).metadata();
  const upper = sharp(picture).extract({ left: 0, top: 0, width, height: Math.min(height, COMPARED_MAX) });
  return upper.png({ palette: true, colours: COLORS, dither: 0, effort: 7 }).toBuffer();
}

/** Three pictures side by side: accepted, now, difference. Undefined if they are alike. */
async function differenceOf(accepted: Buffer, now: Buffer): Promise<Buffer | undefined> {
  const [left, right] = [await sharp(accepted).metadata(), await sharp(now).metadata()];
  const [width, height] = [Math.max(left.width, right.width), Math.max(left.height, right.height)];
  const [one, other] = await Promise.all([accepted, now].map((picture) => pixelsOf(picture, width, height)));
  if (one === undefined || other === undefined) return undefined;
  const difference = new Uint8Array(width * height * 4);
  const pixels = pixelmatch(one, other, difference, width, height, { threshold: COLOR_TOLERANCE });
  const isSameSize = left.width === right.width && left.height === right.height;
  if (isSameSize && pixels <= SHARE_TOLERANCE * width * height) return undefined;
  const raw = (data: Uint8Array) => ({ input: Buffer.from(data), raw: { width, height, channels: 4 as const } });
  const canvas = sharp({ create: { width: 3 * width, height, channels: 4, background: "#808080" } });
  const parts = [one, other, difference].map((data, n) => ({ ...raw(data), left: n * width, top: 0 }));
  return canvas.composite(parts).png().toBuffer();
}

/** Its pixels as RGBA, on a gray ground of this size. */
async function pixelsOf(picture: Buffer, width: number, height: number): Promise<Uint8Array> {
  const { width: own, height: ownHeight } = await sharp(picture).metadata();
  const { data } = await sharp(picture)
    .ensureAlpha()
    .extend({ right: width - own, bottom: height - ownHeight, background: "#808080" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return new Uint8Array(data);
}

/** One page with all pictures as thumbnails. */
async function sheetOf(all: readonly Pictured[], made: ReadonlyMap<string, Buffer>): Promise<string> {
  const rows: string[] = [];
  for (const { name } of all) {
    const cells: string[] = [];
    for (const { name: view, width } of views) {
      const shown = Math.round(width / 4 + 60);
      const picture = await sharp(made.get(`${name}-${view}`))
        .resize({ width: shown * 2 })
        .webp({ quality: 70 })
        .toBuffer();
      cells.push(
        `<img width="${shown}" style="max-height:420px;object-fit:cover;object-position:top;border:1px solid #999" src="data:image/webp;base64,${picture.toString("base64")}">`,
      );
    }
    rows.push(
      `<section style="break-inside:avoid;margin:12px 0"><h2 style="font:16px sans-serif;margin:0 0 4px">${name}</h2><div style="display:flex;gap:8px;align-items:start">${cells.join("")}</div></section>`,
    );
  }
  return `<!doctype html><body style="margin:16px;columns:1">${rows.join("")}`;
}

/** Visible boxes with a ground or a border, but without anything in them. */
const EMPTY_BOXES = `
  [...document.body.querySelectorAll("*")].filter((element) => {
    if (element.closest("svg, table") || element.matches("svg, img, input, select, option, hr, br")) return false;
    const { width, height } = element.getBoundingClientRect();
    const { backgroundColor, borderLeftWidth, borderTopWidth } = getComputedStyle(element);
    const isBox = backgroundColor !== "rgba(0, 0, 0, 0)" || parseFloat(borderLeftWidth) > 0 || parseFloat(borderTopWidth) > 0;
    return isBox && width > 1 && height > 1 && element.textContent.trim() === "" && element.querySelector("svg, img, input, select, button") === null;
  }).map((element) => element.outerHTML.slice(0, 100))
`;
