/** What `find` and `show` print. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type WholeOpportunity, withoutSidecar } from "../../src/opportunities/opportunity.ts";
import { anIndexedDirectoryOfAll } from "../support/all-records.ts";
import { program } from "../support/binary.ts";
import { ESC, fundfeed, withoutColors } from "../support/command-line.ts";
import { overwriteRootPage } from "../support/damage.ts";
import { aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";
import { rowsAmong } from "../support/rows.ts";

setDefaultTimeout(300_000);

let data: string;
let all: WholeOpportunity[];

beforeAll(async () => {
  ({ data, all } = await anIndexedDirectoryOfAll());
});
afterAll(dropScratch);

/** A run on the day of NOON, on a terminal of some width. */
const at = (columns: number | undefined, ...args: readonly string[]) => fundfeed([...args, "--data", data], {}, () => NOON, columns);

describe("fundfeed find", () => {
  test("prints a table that fits 80 columns, and says which filters it applied", async () => {
    const { code, out, err } = await at(80, "find", "quantum", "--status", "open,closed", "--limit", "5");
    expect([code, err]).toEqual([0, expect.stringMatching(/^Found \d+ with status open or closed\n$/)]);
    expect(withoutColors(out)).toMatchSnapshot();
    for (const line of withoutColors(out).split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  });

  test("says today and tomorrow by the Eastern day, however many hours are left", async () => {
    const own = join(aDirectory(), "data");
    const file = aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "T", dates: { closes_at: "2026-03-03T17:00:00-05:00" } }]);
    await fundfeed(["import", "records", file, "--data", own], {}, () => NOON);
    const due = async (now = "") => (await fundfeed(["find", "--data", own], {}, () => Date.parse(now))).out.split("\n")[1]?.split("  ")[0];
    const times = ["2026-03-02T16:59:00-05:00", "2026-03-02T23:59:00-05:00", "2026-03-03T00:00:00-05:00"];
    expect([await due(times[0]), await due(times[1]), await due(times[2])]).toEqual(["tomorrow", "tomorrow", "today"]);
  });

  test("understands agencies, whose options add up, and says how", async () => {
    const { code, out, err } = await at(undefined, "find", "--agency", "NIH,Energy, Department of", "--agency", "golden", "--json");
    const { filter, filter_in_words, total } = JSON.parse(out);
    expect([code, filter]).toEqual([0, { agency: ["NIH", "Energy, Department of", "golden"] }]);
    const words =
      'agency: National Institutes of Health (NIH) and its institutes or Department of Energy (DOE) and its agencies or a name with "golden"';
    expect(filter_in_words).toEqual([words]);
    expect(err).toBe(`Found ${total} with ${words}\n`);
  });

  test("refuses an agency that there is not, and names the one meant", async () => {
    const refusal = { code: 2, out: "", err: "error: no agency NHI; did you mean NIH (National Institutes of Health)?\n" };
    for (const command of ["find", "changes", "export"]) expect(await at(80, command, "--agency", "EPA,NHI")).toEqual(refusal);
    expect(await at(80, "watch", "add", "q", "--agency", "NHI", "--to", "stdout")).toEqual(refusal);
    expect((await at(80, "find", "--agency", "xyzzyx")).err).toBe("error: no agency xyzzyx\n");
  });

  test("has the same lines without a terminal, with brackets in place of colors", async () => {
    const { out } = await at(undefined, "find", "quantum", "--limit", "5");
    expect(out).not.toContain(ESC);
    expect(out).toContain("[Quantum]");
  });

  test.each([80, 100, 200])("keeps every line of a terminal of %i columns to it", async (columns) => {
    for (const words of [["research"], ["clinical", "-cancer"], []]) {
      const { out } = await at(columns, "find", ...words, "--limit", "60");
      expect(out).toContain(ESC);
      for (const line of withoutColors(out).split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
    }
  });

  test("says when nothing was found, when there is more, and how many records of the same opportunities it leaves out", async () => {
    const rows = rowsAmong(all, () => true);
    expect((await at(80, "find", "xyzzyx")).out).toBe("Nothing found\n\nImported 0 seconds ago\n");
    expect(withoutColors((await at(80, "find", "--limit", "3")).out)).toEndWith(
      `\n\n3 of ${rows.length.toLocaleString("en-US")}; more with --limit; imported 0 seconds ago\n`,
    );
    expect(withoutColors((await at(140, "find", "--limit", "3")).out)).toContain(
      `\n3 of ${rows.length.toLocaleString("en-US")} shown; --limit shows more\n${all.length - rows.length} more records of the same opportunities: --all-sources\n`,
    );
    const each = withoutColors((await at(140, "find", "--all-sources", "--limit", "3")).out);
    expect(each).toContain(`\n3 of ${all.length.toLocaleString("en-US")} shown; --limit shows more\nImported`);
  });

  test("prints JSON, NDJSON, CSV and Markdown", async () => {
    const json = JSON.parse((await at(undefined, "find", "PAR-25-270", "--json")).out);
    expect(json).toMatchObject({ total: 1, filter: {}, data: [{ match: null, missing_words: [], status: expect.any(String) }] });
    expect(json.sources.map(({ source }: { source: string }) => source)).toContain("GRANTS_GOV");
    const lines = (await at(undefined, "find", "quantum", "--format", "ndjson", "--limit", "4")).out.trimEnd().split("\n");
    for (const line of lines) expect(all.map(withoutSidecar)).toContainEqual(JSON.parse(line));
    expect(lines).toHaveLength(4);
    expect((await at(undefined, "find", "quantum", "--format", "csv", "--bom")).out).toStartWith("\ufeffid,source,");
    expect((await at(undefined, "find", "quantum", "--format", "csv", "--limit", "4")).out).toStartWith(
      "id,source,upstream_id,solicitation_id,title,",
    );
    const md = (await at(undefined, "find", "PAR-25-270", "--format", "md")).out;
    expect(md).toBe(
      "| Due | Status | Agency | Number | Title |\n|---|---|---|---|---|\n" +
        "| expires Nov 13, 2026; next expected Jun 16, 2026 | open | National Institutes of Health | [PAR-25-270](https://www.grants.gov/search-results-detail/357492) | " +
        "NCCIH Natural Product Early Phase Clinical Trial Award (R33 Clinical Trial Required) |\n",
    );
  });

  test("reads filters from a file, which options override", async () => {
    const file = aFile(JSON.stringify({ source: ["SAM_GOV"], psc: ["R"] }));
    const { out, err } = await at(undefined, "find", "--match", file, "--psc", "66", "--json");
    expect(err).toBe("Found 9 with source SAM_GOV; PSC 66\n".replace("9", JSON.parse(out).total));
    const bad = aFile('{"sourc": ["A"]}');
    expect((await at(undefined, "find", "--match", bad)).err).toBe(
      `Cannot read ${bad}: there is no filter "sourc" (did you mean "source"?)\n`,
    );
    expect((await at(undefined, "find", "--match", "/nowhere.json")).err).toBe("Cannot read /nowhere.json: there is no such file\n");
  });

  test("refuses a source that no record has", async () => {
    const { code, err } = await at(80, "find", "--source", "SAM_GO");
    expect([code, err]).toEqual([1, expect.stringContaining('(did you mean "SAM_GOV"?)')]);
  });

  test("takes words that begin with a dash", async () => {
    const of = ["--sort", "updated", "--all-sources", "--json"]; // Of two records of one opportunity, one may have a word and the other not.
    const total = async (...args: string[]) => JSON.parse((await at(undefined, "find", ...args, ...of)).out).total;
    expect(await total("health", "-hiv")).toBe((await total("health")) - (await total("health", "hiv")));
    expect(await total("-hiv", "--status", "open", "health")).toBeGreaterThan(0);
  });

  test("takes words from --words and --match, where arguments replace them", async () => {
    const total = async (...args: string[]) => JSON.parse((await at(undefined, "find", ...args, "--json")).out).total;
    const file = aFile(JSON.stringify({ words: 'quantum "machine learning"' }), "words.json");
    const expected = await total("quantum", "machine learning");
    expect(expected).toBeGreaterThan(0);
    expect(await total("--words", 'quantum "machine learning"')).toBe(expected);
    const both = await at(undefined, "find", "quantum", "--words", "learning");
    expect([both.code, both.err]).toEqual([2, "error: give the words as arguments or with --words, not both\n(see --help)\n"]);
    expect(await total("--match", file)).toBe(expected);
    expect(await total("clinical", "--match", file)).toBe(await total("clinical"));
    const { code, err } = await at(80, "find", "&&&");
    expect([code, err]).toEqual([2, expect.stringContaining('error: the words must have letters or digits; not "&&&"')]);
  });

  test("continues with --cursor", async () => {
    const page = async (...args: string[]) => JSON.parse((await at(undefined, "find", "clinical", "--limit", "3", "--json", ...args)).out);
    const first = await page();
    const second = await page("--cursor", first.next_cursor);
    const both = JSON.parse((await at(undefined, "find", "clinical", "--limit", "6", "--json")).out);
    expect([...first.data, ...second.data]).toEqual(both.data);
    expect(second.total).toBe(first.total);
    const { err } = await at(undefined, "find", "clinical", "--limit", "3", "--format", "csv");
    expect(err).toStartWith(`3 of ${first.total} shown; --cursor ${first.next_cursor} continues\n`);
    const other = await at(undefined, "find", "quantum", "--cursor", first.next_cursor);
    const bad = await at(undefined, "find", "clinical", "--cursor", "x");
    const error = (cursor: string) => `error: option '--cursor <cursor>' argument '${cursor}' is invalid. It must be a cursor`;
    expect([other.code, other.err]).toEqual([
      2,
      `${error(first.next_cursor)} of a search with the same words, filters and sort.\n(see --help)\n`,
    ]);
    expect([bad.code, bad.err]).toEqual([2, `${error("x")} that a search returned.\n(see --help)\n`]);
  });

  test("finds the records of sources without a name by OTHER, as does export", async () => {
    const directory = aDirectory();
    const records = ["SAM_GOV", "OWN", "OTHER", "MINE"].map((code) => ({ source: { code, opportunity_id: code }, title: "T" }));
    await fundfeed(["import", "records", aFile(records), "--data", directory]);
    const codesOf = async (source: string) => {
      const found = await fundfeed(["find", "--format", "ndjson", "--source", source, "--data", directory]);
      const exported = await fundfeed(["export", "--source", source, "--data", directory]);
      const codes = [found, exported].map(({ out }) => [...out.matchAll(/"source":{"code":"(\w+)"/g)].map(([, code]) => code).sort());
      expect(codes[0]).toEqual(codes[1]);
      return codes[0];
    };
    expect(await codesOf("other")).toEqual(["MINE", "OTHER", "OWN"]);
    expect(await codesOf("other,SAM_GOV")).toEqual(["MINE", "OTHER", "OWN", "SAM_GOV"]);
    expect(await codesOf("SAM_GOV")).toEqual(["SAM_GOV"]);
  });

  test("keeps its index in --search-data, or in a temporary directory if it must", async () => {
    const directory = aDirectory();
    const copy = join(directory, "index");
    const own = aDirectory();
    await fundfeed(["import", "records", aFile([]), "--data", own]);
    expect((await fundfeed(["find", "quantum", "--data", own, "--search-data", copy])).err).toBe("");
    expect(existsSync(join(own, "search.db"))).toBe(false);
    expect(readdirSync(copy)).toEqual(["search.db"]);
    const file = aFile("not a directory");
    expect((await at(80, "find", "quantum", "--search-data", join(file, "x"))).code).toBe(1);
    expect(existsSync(join(data, "search.db"))).toBe(true);
  });

  test("shows on a terminal how far the index is, and then the table only", () => {
    const command = `stty cols 80 rows 20; '${program}' find quantum --limit 1 --data ${data} --search-data ${aDirectory()}`;
    const env = { PATH: process.env.PATH ?? "", TERM: "xterm", NO_COLOR: "1" };
    const written = Bun.spawnSync(["script", "-qc", command, "/dev/null"], { env }).stdout.toString();
    const drawn = written.split(`\r${ESC}[2K`);
    expect(drawn.length).toBeGreaterThan(2);
    for (const line of drawn.slice(1, -1)) expect(line).toMatch(/^indexing \d+ %, .*records/);
    expect(drawn.at(-1)).toStartWith("due");
  });

  test("says how to replace a damaged index", async () => {
    const own = aDirectory();
    const record = { source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sail" };
    await fundfeed(["import", "records", aFile([record]), "--data", own]);
    const find = () => fundfeed(["find", "quantum", "--data", own]);
    expect((await find()).code).toBe(0);
    overwriteRootPage(join(own, "search.db"), "texts_data");
    const { code, err } = await find();
    expect([code, err]).toEqual([1, `Cannot search: ${own}/search.db is damaged; delete it, and the next search builds it again\n`]);
    rmSync(join(own, "search.db"));
    expect((await find()).code).toBe(0);
  });
});

describe("fundfeed show", () => {
  test("prints one opportunity and its history as a page of 80 columns", async () => {
    const { code, out, err } = await at(80, "show", "HT942525ALSRPTDA");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatchSnapshot();
    const long = out.split("\n").filter((line) => Bun.stringWidth(line) > 80);
    expect(long.filter((line) => !/\S{60,}/.test(line))).toEqual([]);
  });

  test("finds it by its id, the beginning of that, its number and each of its upstream ids", async () => {
    const [one] = all.filter(({ program }) => program.solicitation_id === "PAR-25-270");
    const { id = "", source } = one ?? {};
    for (const text of [id, id.toUpperCase(), id.slice(0, 8), "PAR-25-270", "par-25-270", source?.opportunity_id ?? ""])
      expect([text, JSON.parse((await at(80, "show", text, "--json")).out).id]).toEqual([text, id]);
  });

  test("finds it by a number as the table of find cuts it", async () => {
    const { out } = await at(80, "find", "BIA-NATIVEACT-2026-OIED");
    const [cut = ""] = /BIA-\S*…/.exec(withoutColors(out)) ?? [];
    expect(JSON.parse((await at(80, "show", cut, "--json")).out).program.solicitation_id).toBe("BIA-NATIVEACT-2026-OIED");
    expect((await at(80, "show", cut.slice(0, -1))).code).toBe(1);
  });

  test("says what to do if there is none, or several", async () => {
    expect((await at(80, "show", "PAR-25-270")).out).toContain(
      "\nAttachments and links\nhttp://grants.nih.gov/grants/guide/pa-files/PAR-25-270.html\n",
    );
    expect((await at(80, "show", "nothing")).err).toBe(
      "Cannot show nothing: no opportunity has this id or number; look for it with fundfeed find\n",
    );
    const { code, err } = await at(80, "show", "70US0926R70093555");
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /several opportunities have this number; show one of them: SAM_GOV, "Video Wall [^:]*", awarded: fundfeed show 6866e51a; SAM_GOV, /,
      ),
    ]);
  });
});
