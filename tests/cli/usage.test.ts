import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const PORT = "It must be a whole number from 0 to 65535.";
const DURATION = "It must be a number with a unit: 90s, 15m, 6h or 2d.";
const ADDRESS = "It must be an http or https URL without query and password, such as https://api.example.org/v1.";

describe("a usage error exits with 2, says why, and creates nothing", () => {
  test.each([
    ["nope", "error: unknown command 'nope'"],
    ["serv", "error: unknown command 'serv'\n(Did you mean serve?)"],
    ["keys crate", "error: unknown command 'crate'\n(Did you mean create?)"],
    ["serve --prot 1", "error: unknown option '--prot'\n(Did you mean --port?)"],
    [
      "serve --workers 2",
      "error: --workers is not an option of serve anymore; start several servers behind a proxy instead; see fundfeed help scale",
    ],
    ["serve extra", "error: too many arguments for 'serve'. Expected 0 arguments but got 1: extra."],
    ["serve --port", "error: option '--port <n>' argument missing"],
    ["serve --port x", `error: option '--port <n>' argument 'x' is invalid. ${PORT}`],
    ["serve --port -1", `error: option '--port <n>' argument '-1' is invalid. ${PORT}`],
    ["serve --port 65536", `error: option '--port <n>' argument '65536' is invalid. ${PORT}`],
    ["serve --data=", "error: option '--data <dir>' argument '' is invalid. It must not be blank."],
    ["serve --base-url ftp://x/v1", `error: option '--base-url <url>' argument 'ftp://x/v1' is invalid. ${ADDRESS}`],
    ["serve --base-url http://u:p@x/v1", `error: option '--base-url <url>' argument 'http://x/v1' is invalid. ${ADDRESS}`],
    ["serve --base-url http://:p@x/v1", `error: option '--base-url <url>' argument 'http://x/v1' is invalid. ${ADDRESS}`],
    ["serve --base-url http://x/v1?a", `error: option '--base-url <url>' argument 'http://x/v1' is invalid. ${ADDRESS}`],
    [
      "serve postgres://u:p@x/fundfeed?password=p",
      "error: too many arguments for 'serve'. Expected 0 arguments but got 1: postgres://x/fundfeed",
    ],
    ["serve --databse=postgres://u:p@x/fundfeed", "error: unknown option '--databse=postgres://x/fundfeed'"],
    ["pull sam-gov-api --from https://:p@x/?api_key=k", "error: option '--from <url>' argument 'https://x/' is invalid."],
    [
      "serve --base-url http://x",
      "error: option '--base-url <url>' argument 'http://x' is invalid. It must end in /v1, such as https://api.example.org/v1.",
    ],
    ["serve --log-format xml", "error: option '--log-format <format>' argument 'xml' is invalid. Allowed choices are json, text."],
    ["import", "error: missing required argument 'format'"],
    [
      "import record x",
      "error: command-argument value 'record' is invalid for argument 'format'. Allowed choices are records, grants-gov, " +
        "simpler-grants-gov, sam-gov, sbir-gov, dsip, nsf, darpa, nasa-roses, nasa-nspires, challenge-gov, events.\n(Did you mean records?)\n",
    ],
    [
      "import records x --as-of yesterday",
      "error: option '--as-of <when>' argument 'yesterday' is invalid. It must be a date such as 2026-12-31 or an RFC 3339 timestamp.",
    ],
    [
      "import records x --as-of 9999-12-31T23:59:59-05:00",
      "error: option '--as-of <when>' argument '9999-12-31T23:59:59-05:00' is invalid.",
    ],
    ["import records x --snapshots", "error: unknown option '--snapshots'\n(Did you mean --snapshot?)"],
    ["pull nope", "error: command-argument value 'nope' is invalid for argument 'upstream'."],
    ["export --source", "error: option '--source <code...>' argument missing"],
    ["find quantum --statu open", "error: unknown option '--statu'\n(Did you mean --status?)\n"],
    ["find -- -optical --limit 1", "error: what follows -- are words; give option '--limit' before it"],
    ["find --status opne", "error: option '--status <statuses>' argument 'opne' is invalid. It must be of forecast, pre_release, open, "],
    [
      "find --closes-before soon",
      "error: option '--closes-before <when>' argument 'soon' is invalid. It must be a time from now such as 30d",
    ],
    [
      "find --sort size",
      "error: option '--sort <order>' argument 'size' is invalid. Allowed choices are relevance, closes, posted, updated, amount.",
    ],
    [
      "find --posted-after 2026-12-31 --posted-before 2026-01-01",
      "error: --posted-after 2026-12-31 must be earlier than --posted-before 2026-01-01",
    ],
    ["find --min-amount 500 --max-amount 49.5", "error: --min-amount 500 must not be more than --max-amount 49.5"],
    [
      "changes --opens-after 2026-01-01 --opens-before 2026-01-01",
      "error: --opens-after 2026-01-01 must be earlier than --opens-before 2026-01-01",
    ],
    ["changes --since 2d --until 3d", "error: --since must be earlier than --until"],
    ["changes --until 30d", "error: --since must be earlier than --until"],
    ["export --min-amount 500 --max-amount 49.5", "error: --min-amount 500 must not be more than --max-amount 49.5"],
    ["watch add q --to stdout --closes-after 30d --closes-before 7d", "error: --closes-after 30d must be earlier than --closes-before 7d"],
    [
      "find --min-amount 5G",
      "error: option '--min-amount <amount>' argument '5G' is invalid. It must be an amount in dollars, such as \"250000\", \"$1,500.50\", ",
    ],
    ["changes --type tpye", "error: option '--type <types>' argument 'tpye' is invalid. It must be of opportunity_added, "],
    ["find --bom", "error: --bom needs --format csv"],
    ["changes -o x --output y", "error: option '-o, --output <file>' takes one value, and must be given once"],
    ["watch add w --to slack", "error: --to slack requires --url-file or FUNDFEED_SLACK_URL"],
    ["watch add w --to smtp --mail-to a@b.org --mail-from a@b.org", "error: --to smtp requires --smtp-url-file or FUNDFEED_SMTP_URL"],
    [
      "watch add w --to webhook --url https://example.org/x",
      "error: --to webhook requires --secret-file, which is created if it is missing, or FUNDFEED_WEBHOOK_SECRET",
    ],
    ["sources add X", "error: required option '--name <name>' not specified"],
    ["sources status --max-age 5", `error: option '--max-age <duration>' argument '5' is invalid. ${DURATION}`],
    [
      "plans set p --daily 0 --per-minute 1",
      "error: option '--daily <n>' argument '0' is invalid. It must be a whole number from 1 to 1000000000.",
    ],
    ["plans set p", "error: give --daily, --per-minute or both"],
    ["accounts set A", "error: give --plan, --subscription or both"],
    [
      "accounts set A --subscription maybe",
      "error: option '--subscription <state>' argument 'maybe' is invalid. Allowed choices are active, inactive.",
    ],
    ["keys create", "error: required option '--account <name>' not specified"],
    [
      "keys create --account A --expires soon",
      "error: option '--expires <when>' argument 'soon' is invalid. It must be a time from now such as 30d or -7d, yesterday, today, tomorrow, a weekday",
    ],
    ["keys usage --days 0", "error: option '--days <n>' argument '0' is invalid. It must be a whole number from 1 to 3660."],
    ["backup", "error: missing required argument 'dir'"],
    ["export --source A,", "error: option '--source <code...>' argument 'A,' is invalid. It must not be empty or contain an empty value."],
    ["quality --since all", "error: option '--since <when>' argument 'all' is invalid. It must be a time ago such as 7d or 12h, "],
    ["up --pull dsip=6h,dsip=1d", "error: option '--pull <sources>' argument 'dsip=6h,dsip=1d' is invalid. It must name each source once."],
    [
      "up --member-hosts 10.0.0.5",
      "error: option '--member-hosts <hosts>' argument '10.0.0.5' is invalid. It must list domains such as logic.azure.com, or addresses of",
    ],
    ["up --pull dsip=6h=1d", `error: option '--pull <sources>' argument 'dsip=6h=1d' is invalid. ${DURATION}`],
    ["health --url nonsense", `error: option '--url <url>' argument 'nonsense' is invalid. ${ADDRESS}`],
  ])("fundfeed %s", async (line, message) => {
    const data = join(aDirectory(), "data");
    const args = line.split(" ");
    const { code, out, err } = await fundfeed(/(--port|--source|--data=)$/.test(line) ? args : [...args, "--data", data]);
    expect({ code, out, begins: err.startsWith(message) || err }).toEqual({ code: 2, out: "", begins: true });
    expect(err).toEndWith("(see --help)\n");
    expect(existsSync(data)).toBe(false);
  });

  test.each(["keys", "sources", "plans", "accounts", "imports"])("fundfeed %s shows its subcommands", async (group) => {
    const { code, out, err } = await fundfeed([group]);
    expect([code, out, err.startsWith(`Usage: fundfeed ${group} [options] [command]`)]).toEqual([2, "", true]);
  });
});

describe("--help", () => {
  test("names every command, and is the same as help and as no argument", async () => {
    const { code, out, err } = await fundfeed(["--help"]);
    expect([code, err]).toEqual([0, ""]);
    expect(await fundfeed([])).toEqual({ code, out, err });
    expect(await fundfeed(["help"])).toEqual({ code, out, err });
    expect((await fundfeed(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test("describes every command, and each of its options and arguments, in 80 columns", async () => {
    const walk = async (path: readonly string[]): Promise<void> => {
      expect(path.length).toBeLessThan(3); // Else a list in a help text was taken for commands.
      const { code, out, err } = await fundfeed([...path, "--help"]);
      expect([path, code, err]).toEqual([path, 0, ""]);
      const [, ...sections] = (out.split("\nStart with:")[0] ?? "")
        .split(/\n\n(?=[A-Z][\w ]+:\n)/)
        .filter((section) => !section.startsWith("Examples:"));
      expect(out).toMatch(/^Usage: fundfeed.*\n\n[A-Z]/);
      expect([path, out.split("\n").filter((line) => line.length > 80)]).toEqual([path, []]);
      const entries = sections.flatMap((section) => section.split("\n").filter((line) => /^ {2}\S/.test(line)));
      const members: string[] = [];
      for (const section of sections) {
        if (/^(Options|Arguments|Formats|Upstreams):/.test(section)) continue;
        members.push(...[...section.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name ?? "").filter((name) => name !== "help"));
      }
      for (const entry of entries) expect(entry).toMatch(/^ {2}\S.*\S {2,}\S|^ {2}\S+$|^ {2}-/);
      if (members.length === 0) expect(out).toContain("--json");
      for (const member of members) await walk([...path, member]);
    };
    await walk([]);
  });
});

test("an invalid URL in the environment is printed without its password", async () => {
  process.env.FUNDFEED_HEALTH_URL = "https://:secret@api.example.org/v1?key=secret";
  try {
    const { code, err } = await fundfeed(["health"], { FUNDFEED_HEALTH_URL: process.env.FUNDFEED_HEALTH_URL });
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("value 'https://api.example.org/v1' from env 'FUNDFEED_HEALTH_URL' is invalid."),
    ]);
    expect(err).not.toContain("secret");
  } finally {
    delete process.env.FUNDFEED_HEALTH_URL;
  }
});

test("a FUNDFEED_PORT that is no port is refused by its name", async () => {
  for (const port of ["abc", "65536", "80/x"]) {
    const { code, err } = await fundfeed(["health"], { FUNDFEED_PORT: port });
    expect([code, err]).toEqual([1, `Cannot read FUNDFEED_PORT: it must be a port, not "${port}"\n`]);
  }
});
