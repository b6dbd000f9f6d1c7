import { afterAll, describe, expect, test } from "bun:test";
import { reasonOf } from "../../db/reason.ts";
import { openState } from "../../db/sqlite/open.ts";
import { createAccount } from "../../src/accounts/account.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

describe("reasonOf()", () => {
  test("returns the cause of a failed statement, without the statement and its values", async () => {
    const directory = aDirectory();
    const [writer, waiter] = [openState(directory, NOON), openState(directory, NOON, { waitMs: 0 })];
    writer.sqlite.run("begin immediate");
    const failure = await createAccount(waiter, { name: "Secret & Sons" }, NOON).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(reasonOf(failure)).toBe("another process has held the write lock for too long; try again");
    writer.sqlite.run("rollback");
    await writer.close();
    await waiter.close();
  });

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "self signed certificate", "its certificate is not trusted; name that of its issuer with sslrootcert"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "unable to verify", "its certificate is not trusted; name that of its issuer with sslrootcert"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "Hostname/IP does not match certificate's altnames", "its certificate is for another host"],
  ])("says what to do about a PostgreSQL server with a certificate that fails with %s", (code, message, reason) => {
    expect(reasonOf(Object.assign(new Error(message), { code }))).toBe(reason);
  });

  test("says which limit a file is too large for", () => {
    const failure = Object.assign(new Error("EFBIG: file too large, write"), { code: "EFBIG" });
    expect(reasonOf(failure)).toBe("the file is larger than this disk or this user may have (ulimit -f)");
  });

  test("returns the message of an unknown error", () => {
    expect([reasonOf(new Error("a plain sentence")), reasonOf("text")]).toEqual(["a plain sentence", "text"]);
  });
});
