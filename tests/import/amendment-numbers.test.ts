/** Veterans Affairs appends the number of an amendment to that of the solicitation. */
import { afterAll, expect, test } from "bun:test";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, aFile, dropScratch, ordersOf } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const notice = (noticeId: string, solicitationNumber: string, type: string, title: string) => ({
  noticeId,
  title,
  solicitationNumber,
  organizationType: "OFFICE",
  fullParentPathName: "VETERANS AFFAIRS, DEPARTMENT OF.VETERANS AFFAIRS, DEPARTMENT OF.252-NETWORK CONTRACT OFFICE 12 (36C252)",
  fullParentPathCode: "036.3600.36C252",
  postedDate: "2026-09-01",
  type,
  baseType: type,
  active: "Yes",
  responseDeadLine: "2026-09-16T11:00:00-05:00",
});

const TITLE = "J045--ONE TIME BUY - COMP - Fire Pump Packing Repair - One time repair";
const notices = [
  notice("first", "36C25226Q0689", "Presolicitation", TITLE),
  notice("second", "36C25226Q0689_2", "Solicitation", `36C25226Q0689 UPDATED!! ${TITLE}: RESPONSES DUE BY 9/16/26 10:00 AM`),
  notice("third", "36C25226Q06890001", "Solicitation", TITLE),
];

test.each(ordersOf(notices))("each notice has the presolicitation of its number as its parent, in any order: %#", async (...order) => {
  const { db, takeFiles } = await aCatalog();
  for (const each of order) await takeFiles([aFile(JSON.stringify({ opportunitiesData: [each] }))], { format: samGov });
  const rows = await db.all(
    rawSql<{ id: string; notice: string; document: Uint8Array }>("select id, source_opportunity_id as notice, document from opportunities"),
  );
  const ids = new Map(rows.map(({ notice, id }) => [notice, id]));
  const parents = rows.map(({ notice, document }) => [notice, JSON.parse(Buffer.from(document).toString()).relationships.parent_id]);
  expect(Object.fromEntries(parents)).toEqual({ first: null, second: ids.get("first"), third: ids.get("first") });
});
