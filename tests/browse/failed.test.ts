/** A page that fails. */
import { expect, test } from "bun:test";
import { createBrowseApp } from "../../src/browse/app.tsx";

test.each([
  [undefined, "If it stays so: the terminal in which these pages were started says why."],
  [{ hasSignIn: false }, "If it stays so: the log of this server says why."],
])("says where the reason is (on `up`: %j)", async (up, sentence) => {
  const failure = new Error("no data");
  const failures: unknown[] = [];
  const { fetch } = createBrowseApp({
    openCatalog: () => Promise.reject(failure),
    searchIndex: () => Promise.reject(failure),
    now: () => 0,
    host: "127.0.0.1",
    onFailure: (error) => void failures.push(error),
    ...(up && { up }),
  });
  const response = await fetch(new Request("http://127.0.0.1/sources", { headers: { host: "127.0.0.1" } }));
  expect([response.status, await response.text()]).toEqual([500, expect.stringContaining(`<p>${sentence}</p>`)]);
  expect(failures).toEqual([failure]);
});
