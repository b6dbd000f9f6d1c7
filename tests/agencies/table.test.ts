import { describe, expect, test } from "bun:test";
import { agencyByCode, codeOfExactly, codeOfUpstream, codesOfName, listAgencies } from "../../src/agencies/table.ts";
import { makeTable } from "../support/agencies-table.ts";
import { readText } from "../support/project-files.ts";

const table = readText("src/agencies/table.tsv");
const additions = readText("src/agencies/additions.tsv");
const excerpt = (name: string) => readText(`tests/data/agencies/${name}.csv`);
const made = makeTable(excerpt("usaspending-agencies-20190613"), excerpt("grants-gov-codes"), additions);

describe("the table", () => {
  test("has each code once, below a parent that exists", () => {
    const codes = listAgencies().map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    const parents = codes.filter((code) => code.includes(".")).map((code) => code.slice(0, code.lastIndexOf(".")));
    expect(parents.filter((code) => agencyByCode(code) === undefined)).toEqual([]);
  });

  test("has each code of an upstream once", () => {
    const codes = table.split("\n").flatMap((line) => (line.split("\t")[4] ?? "").split("|").filter((code) => code !== ""));
    expect(codes.filter((code, n) => codes.indexOf(code) !== n)).toEqual([]);
  });

  test("has what the script makes of the published lists", () => {
    const code = (line: string) => line.split("\t")[0];
    const committed = new Map(table.split("\n").map((line) => [code(line), line]));
    // A row that the excerpt does not have whole has fewer names and codes, so only rows made of one line are compared.
    const whole = ["HHS.CDC.CGH", "DOS.ARG", "DOD.ARMY.USACE.FW", "DHS.USCG", "DOD.DLA", "DOE.NETL"];
    const lines = made.split("\n").filter((line) => whole.includes(code(line) ?? ""));
    expect(lines.map(code).sort()).toEqual([...whole].sort());
    expect(lines.map((line) => committed.get(code(line)))).toEqual(lines);
  });

  test("has a reason for each row that was written by hand", () => {
    const rows = additions.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(rows.filter((line) => line.split("\t")[5] === "")).toEqual([]);
  });
});

test("the script leaves out international organizations and what the additions drop", () => {
  expect(made).not.toMatch(/Pan-American|Simpler/);
  expect(made).toContain("International Boundary and Water Commission");
  expect(made.match(/Coast Guard/g)).toHaveLength(1);
});

test("an agency is found by the codes and names of its upstreams", () => {
  expect([codeOfExactly("7529"), codeOfExactly("HHS-NIH11"), codeOfExactly("HHS-NIH99")]).toEqual(["HHS.NIH", "HHS.NIH", undefined]);
  expect(codeOfUpstream("HHS-CDC-SOMETHING-NEW")).toBe("HHS.CDC");
  expect(codesOfName("INTERIOR, DEPARTMENT OF THE")).toEqual(["DOI"]);
  expect(codesOfName("U.S. Mission to Atlantis")).toEqual(["DOS"]);
  expect(codesOfName("Department of Magic")).toEqual([]);
});
