/** Use while other files take the place of those that a server has open: each request is counted once, in the files that served it. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

/** Moves `copy` into the place of the data directory, which becomes `old`. */
function replaceAll(home: Home): void {
  renameSync(home.at("fundfeed-data"), home.at("old"));
  renameSync(home.at("copy"), home.at("fundfeed-data"));
}

/** The same for the catalog alone: the state and its log stay the same files. */
function replaceCatalog(home: Home): void {
  renameSync(home.at("fundfeed-data"), home.at("old"));
  mkdirSync(home.at("next"), { mode: 0o700 });
  for (const name of readdirSync(home.at("old")))
    if (name.startsWith("state.db")) renameSync(home.at(`old/${name}`), home.at(`next/${name}`));
  renameSync(home.at("copy/catalog.db"), home.at("next/catalog.db"));
  renameSync(home.at("next"), home.at("fundfeed-data"));
}

test.each([
  ["all files", replaceAll, ["old", "fundfeed-data"]],
  ["the catalog alone", replaceCatalog, ["fundfeed-data"]],
] as const)("requests during the replacement of %s are all counted", async (_, replace, places) => {
  const home = aHome();
  await home.run(["plans", "set", "test", "--daily", "1000000", "--per-minute", "1000000"]);
  const { key } = JSON.parse((await home.run(["keys", "create", "--account", "Acme", "--plan", "test", "--json"])).out) as { key: string };
  await home.run(["import", "records", "-"], {
    stdin: `${JSON.stringify({ source: { code: "OWN", opportunity_id: "1" }, title: "Title" })}\n`,
  });
  await home.run(["backup", "copy"]);
  const server = await home.serve();

  let sent = 0;
  let isReplaced = false;
  const send = async () => {
    while (!isReplaced) {
      expect((await server.get("/sources", key)).status).toBe(200);
      sent++;
    }
  };
  const sending = [send(), send()];
  replace(home);
  await waitFor("the log says so", () => /were replaced/.exec(server.log())?.[0]);
  isReplaced = true;
  await Promise.all(sending);
  expect(await server.stop()).toBe(0);

  let counted = 0;
  for (const place of places) {
    const days = JSON.parse((await home.run(["keys", "usage", "--json", "--data", place])).out) as { requests: number }[];
    for (const { requests } of days) counted += requests;
  }
  expect(counted).toBe(sent);
  expect(sent).toBeGreaterThan(0);
});
