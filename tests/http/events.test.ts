/** Numbers in names are rows of requests.tsv. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { TestApi } from "../support/api.ts";
import { expectCommonHeaders } from "../support/problem.ts";
import { sixtyApi, U, WITHOUT_EVENTS } from "../support/sixty.ts";

let api: TestApi;
beforeAll(async () => {
  api = await sixtyApi();
});

const summaries = async (query: string): Promise<string[]> => {
  const response = await api.get(`/opportunities/${U}/events${query}`);
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as { data: { summary: string }[] };
  return data.map(({ summary }) => summary);
};
const named = (...numbers: number[]) => numbers.map((n) => `Event ${n}`);

describe("GET /opportunities/{id}/events", () => {
  test("285: omits noise and cosmetic events, and returns the newest first", async () => {
    const response = await api.get(`/opportunities/${U}/events?limit=1`);
    expectCommonHeaders(response);
    const body = (await response.json()) as { meta: { next_cursor: string } };
    expect<unknown>(body).toEqual({
      data: [
        {
          id: expect.any(String),
          opportunity_id: U,
          type: "unknown",
          severity: "unknown",
          summary: "Event 11",
          changed_fields: ["title"],
          changes: [{ field: "title", previous: null, current: "Title 11" }],
          detected_at: "2026-02-01T00:00:11.000Z",
        },
      ],
      meta: { request_id: response.headers.get("x-request-id"), count: 1, has_more: true, next_cursor: expect.any(String) },
      links: {
        self: `/v1/opportunities/${U}/events?limit=1`,
        next: `/v1/opportunities/${U}/events?limit=1&cursor=${body.meta.next_cursor}`,
      },
    });
    expect(await summaries("")).toEqual(named(11, 10, 9, 8, 7, 4, 3, 2));
  });

  test.each([
    [286, "?include_insignificant=true", [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
    [287, "?include_insignificant=false", [11, 10, 9, 8, 7, 4, 3, 2]],
    [294, "?type=status_changed,date_changed&include_insignificant=true", [3, 2]],
    [295, "?type=unknown", [11, 10]],
    [298, "?type=status_changed&type=date_changed", [3, 2]],
    [299, "?since=2026-02-01T00:00:05Z&include_insignificant=true", [11, 10, 9, 8, 7, 6]],
  ])("%i: %s", async (_, query, numbers) => {
    expect(await summaries(query)).toEqual(named(...numbers));
  });

  test("pages contain each event once", async () => {
    const seen: string[] = [];
    for (let query = "?include_insignificant=true&limit=5"; ; ) {
      const { data, meta } = (await (await api.get(`/opportunities/${U}/events${query}`)).json()) as {
        data: { summary: string }[];
        meta: { next_cursor: string | null };
      };
      seen.push(...data.map(({ summary }) => summary));
      if (meta.next_cursor === null) break;
      query = `?include_insignificant=true&limit=5&cursor=${meta.next_cursor}`;
    }
    expect(seen).toEqual(named(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  });

  test("306: a record without events has an empty page", async () => {
    const response = await api.get(`/opportunities/${WITHOUT_EVENTS}/events`);
    expect(await response.json()).toMatchObject({
      data: [],
      meta: { count: 0, has_more: false, next_cursor: null },
      links: { next: null },
    });
  });
});
