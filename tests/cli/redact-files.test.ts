/** No copy of a contact is in any byte of any file of the data directory, once it was redacted or where contacts were kept out from the start. */
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { play } from "../pull/upstream.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

/** In every name, address and number of a contact, and nowhere else. */
const SECRET = "zqx";
const ann = { name: "Ann Zqx", email: "zqx@example.gov", phone: "+1 202 555 zqx", role: null };

const record = (id: string, fields: object = {}) => ({
  source: { code: "OWN", opportunity_id: id },
  title: `Title ${id}`,
  description: "A long text. ".repeat(500),
  ...fields,
});
const event = {
  source: { code: "OWN", opportunity_id: "1" },
  type: "field_updated",
  severity: "material",
  summary: "Zqx followed Zqx",
  changed_fields: ["contacts.0.name"],
  changes: [{ field: "contacts.0.name", previous: "Old Zqx", current: "New Zqx" }],
  detected_at: "2020-01-01T00:00:00Z",
};

/** The files, in directories too, whose bytes name somebody. */
function namingIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(directory, name)).isFile())
    .filter((name) => readFileSync(join(directory, name), "latin1").toLowerCase().includes(SECRET))
    .sort();
}

async function run(data: string, ...args: string[]) {
  const { code, out, err } = await fundfeed([...args, "--data", data]);
  expect([0, 3]).toContain(code);
  return { out, err };
}

/** A data directory in which everything names Ann that can. */
async function everywhere(): Promise<string> {
  const data = aDirectory();
  const many = Array.from({ length: 40 }, (_, n) => record(`${n}`, { contacts: [ann] }));
  await run(data, "import", "records", aFile(many));
  const bad = record("bad", { contacts: [ann], title: " " });
  await run(data, "import", "records", aFile([record("1", { contacts: [] }), bad]), "--rejects", join(data, "own.rejects.ndjson"));
  await run(data, "import", "events", aFile([event]));
  cpSync(join(data, "catalog.db"), join(data, "catalog.db.partial")); // What a killed restore leaves.
  for (const left of ["import.staging", ".pull-sam-gov-20260801T000000.000Z", ".pull-dsip-20260801T000000.000Z"]) {
    mkdirSync(join(data, left));
    writeFileSync(join(data, left, "left.txt"), JSON.stringify(ann));
  }
  writeFileSync(join(data, "sam-gov.rejects.ndjson.partial"), JSON.stringify(ann));
  return data;
}

const ALL = [
  ".pull-dsip-20260801T000000.000Z/left.txt",
  ".pull-sam-gov-20260801T000000.000Z/left.txt",
  "catalog.db",
  "catalog.db.partial",
  "import.staging/left.txt",
  "own.rejects.ndjson",
  "sam-gov.rejects.ndjson.partial",
];

describe("fundfeed redact", () => {
  test("--dry-run prints what would be erased, and erases nothing", async () => {
    const data = aDirectory();
    const contacts = [{ name: "Ann", email: "ann@example.gov" }];
    for (const records of [[record("1", { contacts }), record("2")], [record("1", { contacts: [...contacts, { name: "Bea" }] })]])
      await fundfeed(["import", "records", aFile(records), "--data", data]);
    const rejects = join(data, "mine.rejects.ndjson");
    writeFileSync(rejects, '{"line":1,"reason":"r","record":{"contacts":[{"name":"Ann"}]}}\n');
    writeFileSync(join(data, "other.rejects.ndjson"), '{"line":1,"reason":"r","record":null}\n');
    const bytes = () => readdirSync(data).map((name) => [name, readFileSync(join(data, name)).toHex()]);
    const before = bytes();

    expect(await fundfeed(["redact", "--dry-run", "--data", data])).toEqual({
      code: 0,
      out: "Contacts would be erased from 1 record and 1 event\n",
      err: `${rejects} would keep the line and reason of each rejected record, but not the record\n`,
    });
    expect(JSON.parse((await fundfeed(["redact", "--dry-run", "--json", "--data", data])).out)).toEqual({ records: 1, events: 1 });
    expect((await fundfeed(["redact", "--dry-run", "--source", "OWM", "--data", data])).err).toStartWith("Cannot redact source OWM: ");
    expect(bytes()).toEqual(before);

    expect((await fundfeed(["redact", "--data", data])).out).toBe("Contacts erased from 1 record and 1 event\n");
    expect(readFileSync(rejects, "utf8")).toBe('{"line":1,"reason":"r","record":null}\n');
  });

  test("leaves no contact in any file of the data directory, nor in later backups and exports", async () => {
    const data = await everywhere();
    expect(namingIn(data)).toEqual(ALL);
    const { out } = await run(data, "redact", "--json");
    expect(JSON.parse(out)).toEqual({ records: 39, events: 2, complete: true });
    expect(namingIn(data)).toEqual([]);
    const backup = join(aDirectory(), "backup");
    await run(data, "backup", backup);
    expect(namingIn(backup)).toEqual([]);
    expect((await run(data, "export")).out.toLowerCase()).not.toContain(SECRET);
    expect((await run(data, "check")).out).toContain("No problems found");
  });

  test("also while a server has the files open", async () => {
    const data = await everywhere();
    const server = openCatalog(data, Date.now());
    await run(data, "import", "records", aFile([record("2", { contacts: [{ ...ann, role: "Officer" }] })]));
    expect(namingIn(data)).toContain("catalog.db-wal");
    await run(data, "redact");
    expect(namingIn(data)).toEqual([]);
    await server.close();
  });

  test("keeps the line and reason of rejected records, and prints that", async () => {
    const data = await everywhere();
    const file = join(data, "own.rejects.ndjson");
    expect((await run(data, "redact")).err).toContain(`${file} keeps the line and reason of each rejected record, but not the record`);
    expect(readFileSync(file, "utf8")).toBe('{"line":2,"reason":"title must not be blank","record":null}\n');
    expect((await run(data, "redact")).err).not.toContain(file);
  });

  test("leaves the downloads of a running pull, and prints that", async () => {
    const data = await everywhere();
    await using db = openCatalog(data, Date.now());
    await using _ = await db.tryLock("pull-dsip");
    expect((await run(data, "redact")).err).toContain("A pull of dsip is running; its downloads are removed when it ends");
    expect(namingIn(data)).toEqual([".pull-dsip-20260801T000000.000Z/left.txt"]);
  });
});

describe("--redact-contacts", () => {
  test("keeps contacts out of every file of an import, including its rejects", async () => {
    const data = aDirectory();
    const rejects = join(data, "rejects.ndjson");
    const given = ["--redact-contacts", "--rejects", rejects];
    await run(data, "import", "records", aFile([record("1", { contacts: [ann] }), record("2", { contacts: [ann], title: " " })]), ...given);
    expect(readFileSync(rejects, "utf8")).toBe('{"line":2,"reason":"title must not be blank","record":null}\n');
    await run(data, "import", "events", aFile([event, { ...event, type: " " }]), ...given);
    expect(readFileSync(rejects, "utf8")).toBe('{"line":2,"reason":"type must not be blank","record":null}\n');
    expect(namingIn(data)).toEqual([]);
  });

  test("keeps contacts out of every file of a pull", async () => {
    const data = aDirectory();
    const topic = (id: string, title: string) => ({
      solicitation_number: id,
      solicitation_title: title,
      agency: "NASA",
      program: "SBIR",
      current_status: "Open",
      contact: ann,
    });
    const upstream = play(({ query }) =>
      Response.json(query.get("start") === "0" ? [topic("26.1", "Title"), topic("26.2", "\u0000")] : []),
    );
    await run(data, "pull", "sbir-gov", "--redact-contacts", "--from", upstream.base, "--allow-http");
    expect(readdirSync(data)).toContain("sbir-gov.rejects.ndjson");
    expect(namingIn(data)).toEqual([]);
  });
});
