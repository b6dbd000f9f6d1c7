/** Amounts: any plain decimal of up to 100 characters, served as it came; the served schema says the same (D-36). */
import { afterAll, describe, expect, test } from "bun:test";
import Ajv from "ajv/dist/2020.js";
import fc from "fast-check";
import { EXAMPLE_BASE_URL } from "../../src/http/docs/examples.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import { Rejection, validateRecord } from "../../src/import/validate.ts";
import { aCatalog, documentOf, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const record = (amount: unknown) => ({
  source: { code: "OWN", opportunity_id: "1" },
  title: "A title",
  funding: { amount_min: amount, amount_max: amount },
});

const digits = (length: number) => "9".repeat(length);

const decimals = [
  "0",
  "00",
  "-0",
  "-0.00",
  "007.10",
  "0.30000000000000004",
  "99999999999999999999999999999999.999999",
  digits(100),
  `-${digits(99)}`,
  `0.${digits(98)}`,
];

const others = [
  "",
  "-",
  "+1",
  ".5",
  "1.",
  "1.2.3",
  "1e6",
  "1,000",
  " 1",
  "1 ",
  "1\n",
  "٣",
  "１",
  "0x10",
  "NaN",
  digits(101),
  `-${digits(100)}`,
];

/** The schema of an amount as clients get it. */
function servedSchema(): object {
  const document = JSON.parse(JSON.stringify(openapiDocument(EXAMPLE_BASE_URL)));
  return document.components.schemas.Funding.properties.amount_max;
}

const isServed = new Ajv({ strict: false }).compile(servedSchema());

function isAccepted(amount: string): boolean {
  try {
    validateRecord(record(amount), new Map());
    return true;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return false;
  }
}

describe("an amount (D-36)", () => {
  test.each(decimals)("%j is accepted, and served exactly as it came", async (amount) => {
    const catalog = await aCatalog();
    expect(await catalog.take([record(amount)])).toMatchObject({ added: 1, rejected: 0 });
    expect(await documentOf(catalog.db, "1")).toMatchObject({ funding: { amount_min: amount, amount_max: amount } });
  });

  test.each(others)("%j is a rejection", (amount) => {
    expect(isAccepted(amount)).toBe(false);
  });

  test("that is too long is named with the limit", () => {
    expect(() => validateRecord(record(digits(101)), new Map())).toThrow("funding.amount_min must have at most 100 characters");
  });

  test("is accepted where the served schema allows it, and only there", () => {
    for (const amount of [...decimals, ...others]) expect([amount, isAccepted(amount)]).toEqual([amount, isServed(amount)]);
    const near = fc.stringMatching(/^[-+]?[0-9]{0,101}[.,]?[0-9]{0,101}[e ]?$/);
    fc.assert(fc.property(near, (amount) => isAccepted(amount) === isServed(amount)));
  });
});
