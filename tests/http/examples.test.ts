/** The examples in the description are what the service returns for the demo's records. `WRITE=1 bun test examples` updates them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { setAccount } from "../../src/accounts/account.ts";
import examples from "../../src/http/docs/examples.json" with { type: "json" };
import { EXAMPLE_BASE_URL } from "../../src/http/docs/examples.ts";
import { SAMPLE_ID } from "../../src/http/docs/samples.ts";
import { type ProblemCode, problems } from "../../src/http/problem.ts";
import { BASE_URL, type TestApi } from "../support/api.ts";
import { demoApi } from "../support/demo.ts";
import { rawSql } from "../support/sql.ts";

const FILE = join(import.meta.dir, "../../src/http/docs/examples.json");

const requests = {
  getMeta: "/meta",
  listSources: "/sources",
  listOpportunities: "/opportunities?status=open,closing_soon&program_type=GRANT&agency=national+science&limit=1",
  getOpportunity: `/opportunities/${SAMPLE_ID}`,
  listOpportunityEvents: `/opportunities/${SAMPLE_ID}/events?limit=2`,
};

const refusals: Record<ProblemCode, (api: TestApi) => Promise<Response>> = {
  invalid_parameter: (api) => api.get("/opportunities?limit=0&updated_since=2026-02-30"),
  unsupported_parameter: (api) => api.get("/opportunities?sort=title"),
  invalid_cursor: (api) => api.get("/opportunities?cursor=W10"),
  authentication_required: (api) => api.get("/opportunities", { key: null }),
  insufficient_entitlement: async (api) => {
    const { key, account } = await api.newKey();
    await setAccount(api.state, account, { subscription: "inactive" });
    return api.get("/opportunities", { key });
  },
  not_found: (api) => api.get("/opportunities/0190c4a0-0000-7000-8000-0000000000ff"),
  method_not_allowed: (api) => api.get("/opportunities", { method: "POST" }),
  rate_limit_exceeded: async (api) => {
    const { key } = await api.newKey({ daily: 1000, per_minute: 1 });
    await api.get("/opportunities", { key });
    return api.get("/opportunities", { key });
  },
  internal_error: async (api) => {
    await api.model.db.run(rawSql("alter table opportunities rename to elsewhere"));
    return api.get(`/opportunities/${SAMPLE_ID}`);
  },
  service_unavailable: async (api) => {
    await api.model.db.close();
    return api.get(`/opportunities/${SAMPLE_ID}`);
  },
};

test("every example is a response of the service for the demo's records", async () => {
  expect(EXAMPLE_BASE_URL).toBe(BASE_URL);
  const actual = await allResponses(await demoApi());
  if (process.env.WRITE === "1") await Bun.write(FILE, `${JSON.stringify(actual, null, 2)}\n`);
  else expect(masked(actual)).toEqual(masked(examples));
});

async function allResponses(api: TestApi): Promise<unknown> {
  const operations: Record<string, unknown> = {};
  for (const [operationId, path] of Object.entries(requests)) {
    const response = await api.get(path);
    expect(response.status).toBe(200);
    operations[operationId] = await response.json();
  }
  const refused: Record<string, unknown> = {};
  for (const [code, refuse] of Object.entries(refusals)) {
    const response = await refuse(api);
    expect(response.status).toBe(problems[code as ProblemCode].status);
    refused[code] = await response.json();
  }
  return { operations, problems: refused };
}

/** Without cursors, which each catalog signs with its own secret, and without random request ids. */
function masked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, member) => {
      if (name === "request_id") return "masked";
      if (name === "next_cursor" && member !== null) return "masked";
      return name === "next" && member !== null ? member.replace(/cursor=[\w-]+/, "cursor=masked") : member;
    }),
  );
}
