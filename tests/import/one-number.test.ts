/** Many notices of SAM.gov under one number: what they cost, and to which record a further one belongs. */
import { afterAll, expect, spyOn, test } from "bun:test";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, documentsOf, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const COUNT = 300;

/** A number in letters, which are one word. */
const word = (n: number) => n.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");

const notice = (n: number, title: string, postedDate = "2026-01-02") => ({
  noticeId: n.toString(16).padStart(32, "0"),
  title,
  solicitationNumber: "PLACEHOLDER",
  fullParentPathCode: "097.17",
  fullParentPathName: "DEPT OF DEFENSE.NAVY",
  postedDate,
  type: "Solicitation",
});

const file = (notices: readonly object[]) => JSON.stringify({ totalRecords: notices.length, opportunitiesData: notices });
const unlike = Array.from({ length: COUNT }, (_, n) => notice(n, `${word(1000 + n)} ${word(9000 + n)}`));

test("each title is compared with a hundred at most", async () => {
  const compared = spyOn(Set.prototype, "isSubsetOf");
  try {
    const { db, take } = await aCatalog();
    await take(file(unlike), { format: samGov });
    expect((await documentsOf(db)).length).toBe(COUNT);
    expect(compared.mock.calls.length).toBeGreaterThan(COUNT);
    expect(compared.mock.calls.length).toBeLessThanOrEqual(COUNT * 100);
  } finally {
    compared.mockRestore();
  }
});

test("a later notice belongs to the record with the same words, whichever it is, in one file or two", async () => {
  const last = unlike.length - 1;
  const later = [5, last].map((n) => notice(1000 + n, `${word(9000 + n)}: ${word(1000 + n).toUpperCase()}`, "2026-01-05"));
  const [one, two] = [await aCatalog(), await aCatalog()];
  await one.take(file([...unlike, ...later]), { format: samGov });
  await two.take(file(unlike), { format: samGov });
  await two.take(file(later), { format: samGov });
  for (const { db } of [one, two]) {
    const shown = (await documentsOf(db)).map(({ source }) => source.opportunity_id);
    expect(shown.length).toBe(COUNT);
    expect(later.filter(({ noticeId }) => shown.includes(noticeId)).length).toBe(2);
  }
});
