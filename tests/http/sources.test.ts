import { describe, expect, test } from "bun:test";
import { sixtyApi } from "../support/sixty.ts";

describe("GET /sources", () => {
  test("lists the source catalog, by code", async () => {
    const api = await sixtyApi();
    const { data } = (await (await api.get("/sources")).json()) as { data: { code: string }[] };
    expect<unknown[]>(data).toContainEqual({ code: "SAM", name: "SAM", description: "Records of SAM." });
    const codes = data.map(({ code }) => code);
    expect(codes).toEqual(codes.toSorted());
  });
});
