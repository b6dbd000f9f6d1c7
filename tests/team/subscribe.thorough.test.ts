/** A calendar that is subscribed to at `up`, by programs that people use: vdirsyncer fetches it, and khal, with the parser icalendar, shows it. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { DAY_MS } from "../../src/text/instant.ts";
import { aHome, dropHomes } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);

const isThere = ["vdirsyncer", "khal"].every((name) => Bun.which(name) !== null);
if (!isThere)
  process.stderr.write("SKIPPED: the tests of a subscribed calendar need vdirsyncer and khal (apt-get install vdirsyncer khal)\n");

test.if(isThere)(
  "a subscribed calendar follows its deadlines, until its key is revoked",
  async () => {
    const home = aHome();
    const here = (...args: string[]) => fundfeed([...args, "--data", home.at("fundfeed-data")]);
    const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
    const [first, second] = [dayIn(30), dayIn(45)];
    const take = async (record: { closes: string; status?: string }) => {
      const { closes, status = "open" } = record;
      const source = { code: "OWN", opportunity_id: "1" };
      const given = { source, title: "Quantum sensing", status, dates: { closes_at: `${closes}T12:00:00Z` } };
      expect((await here("import", "records", home.file("records.jsonl", JSON.stringify(given)))).code).toBe(0);
    };
    await take({ closes: first });
    const key = await home.key();
    const server = await home.serve(["up", "--port", "0", "--pull", "none", "--pages", "key"]);
    const page = await fetch(`http://127.0.0.1:${server.port}/subscribe?words=quantum`, { headers: { authorization: `Bearer ${key}` } });
    const [, address = ""] = /<code id="ics">([^<]+\.ics)<\/code>/.exec(await page.text()) ?? [];

    const calendar = home.at("calendar");
    mkdirSync(calendar);
    const config = home.file(
      "vdirsyncer.conf",
      `[general]
status_path = "${home.at("status")}"
[pair fundfeed]
a = "here"
b = "there"
collections = null
conflict_resolution = "b wins"
[storage here]
type = "filesystem"
path = "${calendar}"
fileext = ".ics"
[storage there]
type = "http"
url = "${address}"
`,
    );
    const plain = "%Y-%m-%d";
    const shown = home.file(
      "khal.conf",
      `[calendars]
[[fundfeed]]
path = ${calendar}
readonly = True
[sqlite]
path = ${home.at("khal.db")}
[locale]
local_timezone = UTC
default_timezone = UTC
timeformat = %H:%M
dateformat = ${plain}
longdateformat = ${plain}
datetimeformat = ${plain} %H:%M
longdatetimeformat = ${plain} %H:%M
`,
    );
    const run = async (...command: string[]) => {
      const child = Bun.spawn(command, {
        env: { PATH: process.env.PATH ?? "", HOME: home.directory, LC_ALL: "C.UTF-8", TZ: "UTC" },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { code: await child.exited, out, err };
    };
    const sync = () => run("vdirsyncer", "--config", config, "sync");
    const list = async () =>
      (await run("khal", "-c", shown, "list", "--format", "{start} {title}", "--day-format", "", dayIn(0), "90d")).out.trim();
    /** What is listed once it has caught up with the import. */
    const follows = (expected: string) =>
      waitFor(expected, async () => {
        expect(await sync()).toMatchObject({ code: 0 });
        const listed = await list();
        return listed.includes(expected) && listed;
      });

    expect(await run("vdirsyncer", "--config", config, "discover")).toMatchObject({ code: 0 });
    await follows(`${first} 12:00 Due: Quantum sensing`);
    await take({ closes: second });
    expect(await follows(`${second} 12:00 Due: Quantum sensing`)).not.toContain(first);
    await take({ closes: second, status: "cancelled" });
    const files = () => readdirSync(calendar).map((name) => readFileSync(`${calendar}/${name}`, "utf8"));
    await waitFor("it is cancelled", async () => {
      expect(await sync()).toMatchObject({ code: 0 });
      return files().some((text) => text.includes("STATUS:CANCELLED"));
    });
    expect(files()).toHaveLength(1);

    const [{ id = "" } = {}] = JSON.parse((await here("keys", "list", "--json")).out) as { id?: string }[];
    await here("keys", "revoke", id);
    const { code, err } = await sync();
    expect([code, err]).toEqual([1, expect.stringContaining("Gone")]);
    expect(await server.stop()).toBe(0);
  },
  300_000,
);
