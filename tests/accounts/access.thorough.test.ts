/** Counting uses while the database is away. */
import { describe, expect, test } from "bun:test";
import { isUnavailable } from "../../db/unavailable.ts";
import { testApi } from "../support/api.ts";
import { postgresLocation } from "../support/database-locations.ts";
import { hasPostgres, ownPostgresServer } from "../support/postgres.ts";
import { expectProblem } from "../support/problem.ts";
import { waitFor } from "../support/wait-for.ts";
import { usedToday } from "./known-key.ts";

describe.if(hasPostgres)("while PostgreSQL is unavailable", () => {
  test("requests return 503, and earlier use is stored when it is back, without a restart", async () => {
    const server = await ownPostgresServer();
    const api = await testApi({ location: await postgresLocation(server) });
    const { id, key } = await api.newKey({ daily: 10, per_minute: 100 });
    for (let n = 0; n < 3; n++) expect((await api.get("/sources", { key })).status).toBe(200);

    await server.stop("fast");
    for (let n = 0; n < 3; n++) await expectProblem(await api.get("/sources", { key }), { code: "service_unavailable" });
    const failure = await api.saveUse().catch((error: unknown) => error);
    expect([isUnavailable(failure), (await api.get("/meta")).status]).toEqual([true, 200]);
    expect(api.failures).toHaveLength(3);

    await server.start();
    await waitFor("it is back", async () => (await api.get("/sources", { key })).status === 200);
    await api.saveUse();
    expect(await usedToday(api.state, id)).toBe(4);
    expect((await api.get("/sources", { key })).headers.get("ratelimit-remaining")).toBe("5");
    await api.state.close();
  });
});
