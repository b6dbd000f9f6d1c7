/** The documents of real records of four sources, as each door shows them: what they are, how large, since when, and what is gone. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, DAY, dropScratch } from "../support/imports.ts";
import { connectMcp } from "../support/mcp.ts";
import { realJson, realPath } from "../support/real-data.ts";

afterAll(dropScratch);

const data = join(aDirectory(), "data");
const FIRST = Date.parse("2026-03-12T12:00:00Z");
const run = async (at: number, ...args: string[]) => {
  const { code, out } = await fundfeed([...args, "--data", data], {}, () => at);
  expect([args, code]).toEqual([args, 0]);
  return out;
};

type File = { id: number; fileName: string; fileDescription: string; fileLobSize: number };
type Details = { synopsisAttachmentFolders: { folderType: string; synopsisAttachments: File[] }[] };
type Document = { name: string | null; url: string | null; kind: string | null; size: number | null; since: string | null };
type Shown = { attachments: Document[]; removed_attachments: (Omit<Document, "since"> & { removed_at: string })[] };

const GRANT = "358302";
const details = realJson<Details>("grants-gov/opportunity-details-358302.json");
const [folder] = details.synopsisAttachmentFolders;
const [late, ...early] = (folder?.synopsisAttachments ?? []) as [File, ...File[]];
const LATE = "2026-03-13T12:00:00.000Z";

/** A day later, one file had come and another one was gone. */
beforeAll(async () => {
  const withFiles = (synopsisAttachments: readonly File[]) =>
    aFile(JSON.stringify({ ...details, synopsisAttachmentFolders: [{ ...folder, synopsisAttachments }] }));
  await run(FIRST, "import", "grants-gov", withFiles(early));
  await run(FIRST, "import", "grants-gov", realPath("simpler-api/derived/detail-response-355150.json"));
  await run(FIRST, "import", "sam-gov", realPath("sam-gov/v2-search-20260202.json"));
  await run(FIRST, "import", "dsip", realPath("dod-dsip/raw_api_search_correct_format.json"));
  await run(FIRST + DAY, "import", "grants-gov", withFiles([late, ...early.slice(1)]));
});

const shown = async (id: string): Promise<Shown> => JSON.parse(await run(FIRST + DAY, "show", id, "--json"));
const documentOf = ({ id, fileName, fileDescription, fileLobSize }: File) => ({
  name: `${fileName}: ${fileDescription}`,
  url: `https://apply07.grants.gov/grantsws/rest/opportunity/att/download/${id}`,
  kind: "Full Announcement",
  size: fileLobSize,
});
const expected = {
  attachments: [{ ...documentOf(late), since: LATE }, ...early.slice(1).map((each) => ({ ...documentOf(each), since: null }))],
  removed_attachments: early.slice(0, 1).map((each) => ({ ...documentOf(each), removed_at: LATE })),
};

describe("documents", () => {
  test("are in show, with what is gone", async () => {
    expect(await shown(GRANT)).toMatchObject(expected);
    const text = await run(FIRST + DAY, "show", GRANT);
    expect(text).toContain("DE-FOA-0003450.000002.pdf: Amendment 000002 (Full Announcement, 1.3 MB; since\nMar 13, 2026)");
    expect(text.replaceAll("\n", " ")).toContain("(Full Announcement, 1.3 MB; removed Mar 13, 2026)");
  });

  test("are on the page, and what is gone is struck out", async () => {
    const site = await browsed(data);
    const { id } = JSON.parse(await run(FIRST + DAY, "show", GRANT, "--json")) as { id: string };
    const html = await (await fetch(`${site.origin}/opportunities/${id}`)).text();
    await site.stop();
    const [, section = ""] = /<section aria-labelledby="attachments">(.*?)<\/section>/s.exec(html) ?? [];
    const items = section.split("<li").slice(1);
    expect(items).toHaveLength(3);
    for (const item of items) expect(item).toContain("Full Announcement, 1.3 MB");
    expect(items.map((item) => [item.includes("since"), item.includes("<s>") && item.includes("removed"), item.includes("<a ")])).toEqual([
      [true, false, true],
      [false, false, true],
      [false, true, false],
    ]);
  });

  test("are in the tool get", async () => {
    const client = await connectMcp(["--data", data], { now: FIRST + DAY });
    const { data: got, text } = await client.call<Shown>("get", { id: GRANT });
    await client.close();
    expect(got).toMatchObject(expected);
    const lines = text.split("\n").filter((line) => /attachment:/i.test(line));
    const { name, url } = documentOf(late);
    expect(lines[0]).toBe(`Attachment: "${name}", "${url}", "Full Announcement, 1.3 MB", since Mar 13, 2026`);
    expect(lines.map((line) => line.split(":", 1)[0])).toEqual(["Attachment", "Attachment", "Removed attachment"]);
  });

  test("are in the view document of an export", async () => {
    const file = join(aDirectory(), "all.sqlite");
    await run(FIRST + DAY, "export", "--format", "sqlite", file);
    const db = new Database(file, { readonly: true });
    const rows = db.query("select name, url, kind, size, since, removed_at from document where opportunity_id = ?");
    const { id } = db.query<{ id: string }, [string]>("select id from opportunity where upstream_id = ?").get(GRANT) ?? { id: "" };
    expect(rows.all(id)).toEqual([
      ...expected.attachments.map((each) => ({ ...each, removed_at: null })),
      ...expected.removed_attachments.map((each) => ({ ...each, since: null })),
    ]);
    expect(db.query("select source, count(*) as n from document where removed_at is null group by source").all()).toEqual([
      { source: "DSIP", n: 4 },
      { source: "GRANTS_GOV", n: 4 },
      { source: "SAM_GOV", n: 20 },
    ]);
    db.close();
  });

  test("are in CommonGrants, with the protocol's names", async () => {
    type Custom = { customFields: { legacySerialId?: { value: number }; attachments?: { value: object[] } } };
    const printed = async (...more: string[]) =>
      (await run(FIRST + DAY, "export", "--format", "commongrants", ...more))
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Custom)
        .find(({ customFields }) => customFields.legacySerialId?.value === Number(GRANT))?.customFields.attachments?.value;
    const file = (each: File, more = {}) => {
      const { name, url, kind, size } = documentOf(each);
      return { name, downloadUrl: url, kind, sizeInBytes: size, ...more };
    };
    const others = early.slice(1).map((each) => file(each));
    expect(await printed()).toEqual([file(late), ...others]);
    expect(await printed("--events")).toEqual([file(late, { createdAt: LATE }), ...others]);
  });

  test("of other sources have what these state", async () => {
    expect((await shown("A254-049")).attachments.map(({ name, kind }) => [name, kind])).toEqual([
      ["DoD 25.4 SBIR BAA Preface_R12_09232025.pdf", null],
      ["Army_SBIR_254_R12.pdf", "COMPONENT_FINAL_DOCUMENT_UPLOAD"],
    ]);
    expect((await shown("355150")).attachments).toContainEqual({
      name: "AAL_BAA_W911NF-24-S-0008.pdf: AAL BAA W911NF-24-S-0008",
      url: expect.stringMatching(/^https:\/\/files\.simpler\.grants\.gov\/opportunities\/.*\.pdf$/),
      kind: null, // The copy lacks type and size.
      size: null,
      since: null,
    });
  });
});
