import { afterAll, expect, test } from "bun:test";
import { pick, query, update } from "../../db/query.ts";
import { watches } from "../../db/schema/sqlite/watch.ts";
import { mailOf } from "../../src/watch/mail.tsx";
import { dropScratch } from "../support/imports.ts";
import { aWatched } from "./watched.ts";

afterAll(dropScratch);

const setDefinition = query(pick(watches, "definition"), ({ definition }) => update(watches).set({ definition }));

test("a watch whose agency was stored as a text goes on", async () => {
  const { take, add, run, file, received } = await aWatched();
  const { definition } = await add("navy", { filter: { agency: ["navy"] } });
  await file.run(setDefinition, { definition: JSON.stringify({ ...definition, filter: { agency: "navy" } }) });
  const record = { source: { code: "OWN", opportunity_id: "N1" }, title: "Ships", organization: { agency: "Office of Naval Research" } };
  await take([record, { ...record, source: { code: "OWN", opportunity_id: "N2" }, organization: { agency: "Army" } }]);
  await run();
  expect(received.flatMap(({ data }) => data.events.map(({ opportunity }) => opportunity.source.opportunity_id))).toEqual(["N1"]);
  const [message] = received;
  if (message === undefined) throw new Error("there is no message");
  expect(mailOf([{ message, zone: "America/New_York" }]).text.replace(/\n/g, " ")).toContain(
    "agency: Department of the Navy (USN) and its offices",
  );
});
