import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aDirectory, contentsOf, documentOf, documentsOf, dropScratch, eventsOf } from "../support/imports.ts";
import { realFile, realJson } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";
import { aPuller, play } from "./upstream.ts";

afterAll(dropScratch);

describe("pull sam-gov", () => {
  const csv = realFile("sam-gov/derived/ContractOpportunitiesFullCSV-20260330.reconstructed.csv.gz");
  const headers = { "content-type": "application/octet-stream", etag: '"csv"', "accept-ranges": "bytes" };
  const signed = "/signed/ContractOpportunitiesFullCSV.csv";

  test("follows the redirect, imports the active notices and removes none", async () => {
    const puller = aPuller("sam-gov");
    const upstream = play(({ path, query, headers: sent }) => {
      if (path !== signed) return new Response(null, { status: 303, headers: { location: `${signed}?X-Amz-Signature=secret` } });
      if (sent.get("if-none-match") === '"csv"') return new Response(null, { status: 304 });
      return query.has("X-Amz-Signature") ? new Response(csv, { headers }) : undefined;
    });

    const outcome = await puller.turn(upstream.base);

    expect(upstream.asked[0]).toMatchObject({ path: "/ContractOpportunitiesFullCSV.csv" });
    expect(upstream.asked[0]?.query.get("privacy")).toBe("Public");
    expect(outcome).toMatchObject({ rejected: 0, removed: 0 });
    expect(outcome?.added).toBeGreaterThan(100);
    expect(await puller.db.all(rawSql("select snapshot from imports"))).toEqual([{ snapshot: 0 }]);
    expect(await puller.turn(upstream.base)).toBeUndefined();
  });

  test("fails for a file without records", async () => {
    const puller = aPuller("sam-gov");
    const { base } = play(() => new Response(csv.subarray(0, csv.indexOf("\n") + 1), { headers }));
    await expect(puller.turn(base)).rejects.toThrow("the download contains no records");
    expect(await puller.db.all(rawSql("select name from settings where name like 'pulled%'"))).toEqual([]);
  });

  test("fails if the file is missing", async () => {
    const { base } = play(() => undefined);
    await expect(aPuller("sam-gov").turn(base)).rejects.toThrow(`Cannot find ContractOpportunitiesFullCSV.csv at ${base}`);
  });
});

describe("pull sam-gov-api", () => {
  type Answer = { totalRecords: number; opportunitiesData: { noticeId: string }[] };
  const real = realJson<Answer>("sam-gov/v2-search-20260202.json");

  test("requests the last days with the key, page by page", async () => {
    const upstream = play(({ query }) => {
      const offset = Number(query.get("offset")) * 3;
      return Response.json({ ...real, totalRecords: 8, opportunitiesData: real.opportunitiesData.slice(offset, offset + 3) });
    });
    const puller = aPuller("sam-gov-api");

    expect(await puller.turn(upstream.base, { key: "very-secret" })).toMatchObject({ read: 8, rejected: 0 });

    expect(upstream.asked.map(({ path, query }) => [path, Object.fromEntries(query)])).toEqual(
      ["0", "1", "2"].map((offset) => [
        "/search",
        { api_key: "very-secret", postedFrom: "07/31/2026", postedTo: "08/03/2026", limit: "1000", offset },
      ]),
    );
  });

  test("reads responses that begin with a byte-order mark", async () => {
    const text = `\ufeff${JSON.stringify({ ...real, totalRecords: 8 })}`;
    const upstream = play(() => new Response(text, { headers: { "content-type": "application/json" } }));
    expect(await aPuller("sam-gov-api").turn(upstream.base, { key: "very-secret" })).toMatchObject({ read: 8, rejected: 0 });
  });

  test("changes nothing if notices are missing", async () => {
    const puller = aPuller("sam-gov-api");
    await expect(puller.turn(play(() => Response.json(real)).base)).rejects.toThrow("it states a total of 9334, but its pages have 8");
    expect(await documentsOf(puller.db)).toEqual([]);
  });
});

describe("pull sbir-gov", () => {
  const real = realJson<object[]>("sbir-gov/solicitations-20250914.json");
  const paging = (rows: number) =>
    play(({ query }) => Response.json(real.slice(Number(query.get("start")), Number(query.get("start")) + rows)));

  test("requests pages until one has nothing new, and imports them as one unit", async () => {
    const upstream = paging(4);
    const puller = aPuller("sbir-gov");

    const outcome = await puller.turn(upstream.base);

    expect(upstream.asked.map(({ path, query }) => `${path}?${query}`)).toEqual(
      [0, 4, 8, 10].map((start) => `/solicitations?open=1&rows=50&start=${start}`),
    );
    expect(outcome).toMatchObject({ rejected: 0 });
    expect(await puller.db.all(rawSql("select count(*) as count, snapshot from imports"))).toEqual([{ count: 1, snapshot: 0 }]);
  });

  test("accepts an upstream without pages if everything fits into one", async () => {
    const puller = aPuller("sbir-gov");
    const all = await puller.turn(play(() => Response.json(real)).base);
    expect(await puller.turn(paging(4).base)).toMatchObject({ unchanged: all?.added, changed: 0, added: 0 });

    const many = Array.from({ length: 50 }, (_, index) => ({ ...real[0], solicitation_id: index }));
    await expect(puller.turn(play(() => Response.json(many)).base)).rejects.toThrow("the same 50 solicitations again");
  });

  test("removes nothing if no solicitation is open", async () => {
    const puller = aPuller("sbir-gov");
    await puller.turn(paging(50).base);
    expect(await puller.turn(play(() => Response.json([])).base)).toMatchObject({ read: 0, removed: 0 });
  });

  test.each([
    ["a message of maintenance", () => Response.json({ message: "maintenance" }), "it is not a list of solicitations"],
    ["no JSON", () => new Response("oops", { headers: { "content-type": "application/json" } }), "it is not JSON"],
    [
      "a page of HTML",
      () => new Response("<html>", { headers: { "content-type": "text/html" } }),
      "it has the content type text/html, not application/json",
    ],
    ["a list of something else", () => Response.json([{ hello: "world" }]), "is not a solicitation"],
    ["a refusal", () => new Response("", { status: 403 }), "it returned 403"],
    ["nothing at all", () => undefined, "it returned 404"],
  ])("changes nothing if the response is %s", async (_, answer, reason) => {
    const puller = aPuller("sbir-gov");
    await puller.turn(paging(50).base);
    const before = await contentsOf(puller.db);

    await expect(puller.turn(play(answer).base)).rejects.toThrow(reason);

    expect(await contentsOf(puller.db)).toBe(before);
    expect(await puller.db.get(rawSql("select count(*) as count from imports"))).toEqual({ count: 1 });
    expect(readdirSync(puller.directory).filter((name) => name.startsWith(".pull"))).toEqual([]);
  });
});

describe("pull dsip", () => {
  type Topic = { topicId: string; topicCode: string; noOfPublishedQuestions: number | null };
  const topics = realJson<{ data: Topic[] }>("dod-dsip/raw_api_search_correct_format.json").data;
  const details = realJson<{ topicId: string }>("dod-dsip/raw_api_details_response.json");
  const questions = realJson<object[]>("dod-dsip/raw_api_qa_response.json");
  const asked = topics.find(({ topicId }) => topicId === details.topicId);
  const SEARCH = "/topics/api/public/topics/search";

  /** One topic a page; questions are published on the one that really has some. `change` has the last word. */
  function portal(change: (path: string, page: number) => unknown = () => undefined) {
    return play(({ path, query }) => {
      const [, id, call] = /topics\/([^/]+)\/(details|questions)$/.exec(path) ?? [];
      const page = Number(query.get("page"));
      const said = change(path, page);
      if (said !== undefined) return said instanceof Response ? said : Response.json(said);
      if (path === "/core/api/public/dropdown/lookup") {
        const labels = ["Closed", "Open", "Pre-Release"];
        return Response.json(labels.map((label, index) => ({ label, value: String(700 + index), id: index })));
      }
      if (path === SEARCH) {
        const data = topics.slice(page, page + 1).map((topic) => ({ ...topic, noOfPublishedQuestions: topic === asked ? 7 : 0 }));
        return Response.json({ total: topics.length, data });
      }
      if (call === "details") return Response.json({ ...details, topicId: id });
      return call === "questions" ? Response.json(questions) : undefined;
    });
  }

  test("requests the statuses, the topics with every required key, their details and questions", async () => {
    const upstream = portal();
    const puller = aPuller("dsip");

    expect(await puller.turn(upstream.base)).toMatchObject({ read: 2, added: 2, rejected: 0 });

    const [lookup, ...rest] = upstream.asked;
    expect([lookup?.path, lookup?.query.get("type")]).toEqual(["/core/api/public/dropdown/lookup", "topics.release_status"]);
    const searches = rest.filter(({ path }) => path === SEARCH);
    expect(searches.map(({ query }) => [query.get("size"), query.get("page")])).toEqual([
      ["50", "0"],
      ["50", "1"],
    ]);
    expect(JSON.parse(searches[0]?.query.get("searchParam") ?? "")).toEqual({
      searchText: null,
      components: null,
      programYear: null,
      solicitationCycleNames: ["openTopics"],
      releaseNumbers: [],
      topicReleaseStatus: [701, 702],
      modernizationPriorities: [],
      sortBy: "finalTopicCode,asc",
      technologyAreaIds: [],
      component: null,
      program: null,
    });
    expect(
      rest
        .slice(2)
        .map(({ path }) => path.replace("/topics/api/public/topics/", ""))
        .toSorted(),
    ).toEqual([...topics.map(({ topicId }) => `${topicId}/details`), `${asked?.topicId}/questions`].toSorted());
    expect((await documentOf(puller.db, asked?.topicCode ?? "")).description).toContain("<h3>Objective</h3>");
  });

  test("stores a newly answered question", async () => {
    const puller = aPuller("dsip");
    await puller.turn(portal((path) => (path.endsWith("/questions") ? questions.slice(1) : undefined)).base);
    expect(await puller.turn(portal().base)).toMatchObject({ changed: 1, unchanged: 1, events: 1 });
    expect((await eventsOf(puller.db, asked?.topicCode ?? "")).map(({ type }) => type)).toEqual(["opportunity_added", "qanda_updated"]);
  });

  test("waits 0.35 s between requests", async () => {
    const waits: number[] = [];
    const upstream = portal();
    await aPuller("dsip").turn(upstream.base, { net: { wait: async (ms) => void waits.push(ms) } });
    expect(waits).toEqual(Array.from({ length: upstream.asked.length - 1 }, () => 350));
  });

  const missing = () => new Response("", { status: 404 });
  const at = (end: string, said: unknown) => (path: string) => (path.endsWith(end) ? said : undefined);

  test.each([
    ["a status is unknown", at("/lookup", [{ label: "Open", value: 591 }]), "it has no statuses Open and Pre-Release"],
    ["a topic is missing", at(SEARCH, { total: 3, data: topics }), "it states a total of 3, but its pages have 2"],
    ["the filters were ignored", at(SEARCH, { total: 1, data: topics }), "it states a total of 1, but its pages have 2"],
    ["a page says what went wrong", at(SEARCH, { errorMessages: ["no"] }), "its pages have 0"],
    ["there are no details", (path: string) => (path.endsWith("/details") ? missing() : undefined), "it returned 404"],
    ["the details are another topic's", at("/details", details), "it is not the topic"],
    ["the questions are none", at("/questions", { message: "no" }), "it has no list of questions"],
    ["the portal is down", () => new Response("", { status: 503 }), "it returned 503 (tried 5 times)"],
  ])("changes nothing when %s", async (_, change, reason) => {
    const puller = aPuller("dsip");
    await puller.turn(portal().base);
    const before = await contentsOf(puller.db);
    await expect(puller.turn(portal(change).base)).rejects.toThrow(reason);
    expect(await contentsOf(puller.db)).toBe(before);
  });

  test("keeps the files with --keep, and they can be imported again", async () => {
    const keep = aDirectory();
    const puller = aPuller("dsip");
    await puller.turn(portal().base, { keep });
    expect(readdirSync(keep)).toEqual(["dsip-20260803T120000.000Z"]);
    const kept = join(keep, "dsip-20260803T120000.000Z");
    expect(readdirSync(kept).toSorted()).toEqual(["details.json", "topics-1.json", "topics-2.json"]);
    expect(JSON.parse(readFileSync(join(kept, "details.json"), "utf8"))).toHaveLength(2);
  });
});

describe("pull", () => {
  test("keeps files that could not be imported, and nothing if there is nothing new", async () => {
    const keep = join(aDirectory(), "kept");
    const puller = aPuller("sbir-gov");
    await expect(puller.turn(play(() => Response.json([{ hello: "world" }])).base, { keep })).rejects.toThrow("is not a solicitation");
    const [kept = ""] = readdirSync(keep);
    expect(readdirSync(join(keep, kept))).toContain("solicitations-1.json");

    puller.clock.now += 1;
    await expect(puller.turn(play(() => undefined).base, { keep })).rejects.toThrow("404");
    expect(readdirSync(keep)).toEqual([kept]);
  });

  const one = JSON.stringify([{ solicitation_title: "A title" }, { solicitation_number: "1", solicitation_title: "\u0000" }]);

  test("keeps rejected records in the data directory", async () => {
    const puller = aPuller("sbir-gov");
    const outcome = await puller.turn(play(() => new Response(one, { headers: { "content-type": "application/json" } })).base);
    expect(outcome).toMatchObject({ read: 2, added: 1, rejected: 1, rejects: [join(puller.directory, "sbir-gov.rejects.ndjson")] });
    expect(existsSync(join(puller.directory, "sbir-gov.rejects.ndjson"))).toBe(true);
  });

  test("removes what a killed pull left the day before, and nothing that may be in use", async () => {
    const puller = aPuller("sbir-gov");
    const [old, young] = [".pull-dsip-20260802T115959.999Z", ".pull-sbir-gov-20260803T115959.999Z"];
    for (const name of [old, young]) mkdirSync(join(puller.directory, name));
    await puller.turn(play(() => Response.json([])).base);
    expect(readdirSync(puller.directory).filter((name) => name.startsWith(".pull"))).toEqual([young]);
  });
});
