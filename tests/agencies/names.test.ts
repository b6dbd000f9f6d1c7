import { expect, test } from "bun:test";
import { normalForm, plainWords } from "../../src/agencies/names.ts";

test.each([
  [
    "department of energy",
    ["ENERGY, DEPARTMENT OF", "Department of Energy", "U.S. Department of Energy", "Dept. of Energy (DOE)", "US DEPT OF ENERGY"],
  ],
  ["department of interior", ["INTERIOR, DEPARTMENT OF THE", "Department of the Interior", "United States Department of the Interior"]],
  ["health and human services", ["Health & Human Services", "HEALTH &amp; HUMAN SERVICES", "Health and Human Services"]],
  ["house of representatives", ["HOUSE OF REPRESENTATIVES, THE", "U.S. House of Representatives"]],
  ["veterans employment and training service", ["Veterans' Employment and Training Service", "Veterans Employment and Training Service"]],
  ["export import bank of", ["EXPORT-IMPORT BANK OF THE US", "Export-Import Bank of the United States"]],
])("%s is one name in all its styles", (form, styles) => {
  expect(styles.map(normalForm)).toEqual(styles.map(() => form));
});

test("an inverted name keeps its other commas", () => {
  expect(normalForm("VETERANS AFFAIRS, DEPARTMENT OF")).toBe("department of veterans affairs");
  expect(normalForm("Bureau of Population, Refugees, and Migration")).toBe("bureau of population refugees and migration");
});

test("plain words have one blank between them", () => {
  expect(plainWords("  DEPT OF DÉFENSE -- Navy\n")).toBe("dept of défense navy");
});
