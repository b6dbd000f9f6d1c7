import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile, replaceText } from "../../src/runtime/replace-file.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

describe("replaceFile()", () => {
  test("leaves the old content until the new one is complete, and keeps the mode of the file", () => {
    const directory = aDirectory();
    const path = join(directory, "feed.json");
    writeFileSync(path, "old");
    chmodSync(path, 0o640);
    const file = replaceFile(path, 0o600);
    file.write("new");
    expect(readFileSync(path, "utf8")).toBe("old");
    file.finish();
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["new", 0o640]);
    expect(readdirSync(directory)).toEqual(["feed.json"]);
  });

  test("replaces the file that a link names, and not the link", () => {
    const directory = aDirectory();
    const [path, link] = [join(directory, "feed.json"), join(directory, "link.json")];
    writeFileSync(path, "old");
    symlinkSync("feed.json", link);
    replaceText(link, "new");
    expect([lstatSync(link).isSymbolicLink(), readFileSync(path, "utf8")]).toEqual([true, "new"]);
    expect(readdirSync(directory).sort()).toEqual(["feed.json", "link.json"]);
  });

  test("writes to a pipe, and leaves it in place", async () => {
    const pipe = join(aDirectory(), "pipe");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    const reader = Bun.spawn(["cat", pipe], { stdout: "pipe" });
    replaceText(pipe, "new");
    expect(await reader.stdout.text()).toBe("new");
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  test("refuses a directory", () => {
    const path = join(aDirectory(), "directory");
    mkdirSync(path);
    expect(() => replaceText(path, "new")).toThrow(/^EISDIR/);
  });
});
