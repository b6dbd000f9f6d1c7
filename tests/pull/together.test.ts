/** Pulls of one source that begin while another one runs. */
import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { pull } from "../../src/pull/pull.ts";
import { upstreams } from "../../src/pull/upstreams.ts";
import { locations } from "../support/engines.ts";
import { aDirectory, documentsOf, dropScratch } from "../support/imports.ts";
import { aNet, NOW, play } from "./upstream.ts";

afterAll(dropScratch);

const solicitation = (title: string) => ({ solicitation_number: "26.1", solicitation_title: title, agency: "NASA", program: "SBIR" });

/** A pull as a process of its own makes it, which has its own opening of the catalog. */
function start(db: CatalogDb, source: string, base: string) {
  const upstream = upstreams.find(({ name }) => name === source);
  if (upstream === undefined) throw new Error(`There is no upstream ${source}`);
  const context = { db, directory: aDirectory(), now: () => NOW, notify: () => undefined, progress: () => undefined };
  const order = { upstream, base: new URL(base), key: undefined, keep: undefined, force: false, allowRemovals: false, rejects: undefined };
  return pull(context, aNet(base), order);
}

describe.each(locations)("two pulls at once on %s", (_, isThere, newLocation) => {
  test.if(isThere)("of one source: the second fails before it downloads, and works after the first", async () => {
    const location = await newLocation();
    const [one, two] = [await location.catalog(NOW), await location.catalog(NOW)];
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const slow = play(async ({ query }) => {
      asked.resolve();
      await answer.promise;
      return Response.json(query.get("start") === "0" ? [solicitation("Fetched first")] : []);
    });
    const quick = play(({ query }) => Response.json(query.get("start") === "0" ? [solicitation("Fetched later")] : []));
    const first = start(one, "sbir-gov", slow.base);
    await asked.promise;

    await expect(start(two, "sbir-gov", quick.base)).rejects.toThrow(
      "Cannot pull sbir-gov: another pull of sbir-gov is running; try again when it has ended",
    );
    expect(quick.asked).toEqual([]);
    const other = play(() => undefined);
    await expect(start(two, "dsip", other.base)).rejects.toThrow("it returned 404"); // Another source is asked meanwhile.

    answer.resolve();
    expect(await first).toMatchObject({ added: 1 });
    expect(await start(two, "sbir-gov", quick.base)).toMatchObject({ changed: 1 });
    expect((await documentsOf(two)).map(({ title }) => title)).toEqual(["Fetched later"]);
    await Promise.all([one.close(), two.close()]);
  });

  test.if(isThere)("a failed pull does not block the next one", async () => {
    const db = await (await newLocation()).catalog(NOW);
    await expect(start(db, "sbir-gov", play(() => new Response("", { status: 403 })).base)).rejects.toThrow("it returned 403");
    const well = play(({ query }) => Response.json(query.get("start") === "0" ? [solicitation("Published")] : []));
    expect(await start(db, "sbir-gov", well.base)).toMatchObject({ added: 1 });
    await db.close();
  });
});
