/** The commands of `watch`, as a person uses them. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryLockIn } from "../../db/sqlite/lock.ts";
import { type Cli, newCommand } from "../../src/cli/command.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { runCommand } from "../../src/cli/commands/watch-run.ts";
import { watchFamiliesIn } from "../../src/monitoring/watch-metrics.ts";
import type { Machine } from "../../src/runtime/machine.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, inScratch } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";
import { type Receiver, startReceiver } from "../watch/receiver.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const record = (id: string, fields: object = {}) => ({
  source: { code: "OWN", opportunity_id: id },
  title: "Quantum sensing",
  status: "open",
  ...fields,
});

let imported: string;
let data: string;
let receiver: Receiver;
beforeAll(async () => {
  data = imported = aDirectory();
  await take(record("1"));
});
beforeEach(() => {
  data = aDirectory();
  cpSync(imported, data, { recursive: true });
  receiver = startReceiver();
});
afterEach(() => receiver.stop());

const take = (...records: object[]) => fundfeed(["import", "records", aFile(records), "--data", data]);
const watch = (...args: string[]) => fundfeed(["watch", ...args, "--data", data]);
/** A watch on the receiver, with its secrets in files. */
async function addWebhook(name: string, ...args: string[]): Promise<{ url: string; secret: string }> {
  const [url, secret] = [aFile(`${receiver.url}/T0/hunter2\n`), inScratch(`${name}.secret`)];
  const added = await watch(
    "add",
    name,
    "--to",
    "webhook",
    "--url-file",
    url,
    "--secret-file",
    secret,
    "--allow-http",
    "--allow-private",
    ...args,
  );
  expect(added.code).toBe(0);
  return { url, secret };
}

/** Runs the watches every hour, until a line on standard error says what was waited for. */
async function runUntil(what: string, isWaitedFor: (line: string) => boolean, options: readonly string[] = []) {
  const [out, err]: [string[], string[]] = [[], []];
  const signal = Promise.withResolvers<() => void>();
  const machine = machineOf({}, { printLine: (text) => void out.push(text), printError: (text) => void err.push(text) });
  const ended = runCommandLine(["watch", "run", "--every", "1h", ...options, "--data", data], {
    ...machine,
    onStopSignal: (stop) => signal.resolve(stop),
  });
  await waitFor(what, () => err.some(isWaitedFor));
  (await signal.promise)();
  expect(await ended).toBe(0);
  return { out, err };
}

describe("fundfeed watch", () => {
  test("says which words it does not require, unless a filter decides", async () => {
    const { out } = await watch("add", "a", "quantum", "due", "in", "March", "--to", "stdout");
    expect(out).toContain('for words quantum due in March ("due in March" is not required); 1 match now');
    expect((await watch("set", "a", "--closes-after", "0d")).out).not.toContain("is not required");
    expect(await watch("remove", "a")).toMatchObject({ code: 0 });
  });

  test("prints messages of --to stdout, and what it did on standard error", async () => {
    expect(await watch("add", "q", "quantum", "--status", "open", "--to", "stdout")).toEqual({
      code: 0,
      out: "Added watch q for status open; words quantum; 1 match now. fundfeed watch run sends its messages\n",
      err: "",
    });
    expect(await watch("run")).toEqual({ code: 0, out: "", err: "q: nothing new\n" });
    await take(record("2"), record("1", { status: "cancelled" }));
    const { code, out, err } = await watch("run");
    expect([code, err]).toEqual([0, "q: delivered 1 new, 1 changed, 1 no longer matching\n"]);
    const message = JSON.parse(out);
    expect(message).toMatchObject({ type: "watch.changes", data: { watch: "q", filter: { words: "quantum", status: ["open"] } } });
    expect(message.data.events.map(({ kind }: { kind: string }) => kind)).toEqual(["new", "changed", "left"]);
    expect((await watch("run")).err).toBe("q: nothing new\n");
    expect((await watch("deliveries")).out).toMatch(
      /^delivered +watch +to +attempts +about +id\n.*Z {2}q {6}stdout {9}1 {2}1 new, 1 changed, 1 no longer matching {2}msg_\w+\n$/,
    );
  });

  test("lists, shows and removes watches", async () => {
    expect((await watch("list")).out).toBe("No watches yet; fundfeed watch add makes one\n");
    await watch("add", "q", "quantum", "-optical", "--to", "stdout", "--closes-before", "30d", "--at-least", "critical");
    expect((await watch("list")).out).toBe(
      "name  owner  matching  last delivery  remind  every  state  to\nq     –             0  –              –       –      ok     stdout\n",
    );
    const { out } = await watch("show", "q");
    expect(out).toMatch(
      /^name +q\nfilter +closes before .* UTC \(30d\)\nfilter +words quantum -optical\nchanges +critical or more severe\nzone +America.New_York\nadded +\S+\n\nto +stdout\n/,
    );
    expect(JSON.parse((await watch("list", "--json")).out)).toEqual([JSON.parse((await watch("show", "q", "--json")).out)]);
    expect((await watch("remove", "q")).out).toBe("Removed watch q\n");
    expect(await watch("show", "q")).toEqual({
      code: 1,
      out: "",
      err: "Cannot find a watch q; fundfeed watch list shows the ones that exist\n",
    });
  });

  test("keeps reminders, a schedule, types and a note, shows them, and clears them", async () => {
    const options = ["--remind", "3d,14d", "--every", "monday 8:00", "--type", "date_changed", "--note", "Ask Ann first.", "--zone", "UTC"];
    expect((await watch("add", "q", ...options, "--to", "stdout")).out).toMatch(/, the first ones at \S+T08:00:00.000Z\n$/);
    expect((await watch("show", "q")).out).toMatch(
      /changes +material or more severe, of type date_changed\nreminders +14d,3d\nevery +monday 08:00\nnext messages +\S+\nnote +Ask Ann first\.\n/,
    );
    expect((await watch("list")).out).toContain("14d,3d  monday 08:00");
    const shown = async () => JSON.parse((await watch("show", "q", "--json")).out);
    expect(await shown()).toMatchObject({ remind: [14, 3], every: "monday 08:00", types: ["date_changed"], note: "Ask Ann first." });
    expect((await watch("run")).err).toMatch(/^q: its next messages are made at \S+T08:00:00.000Z\n$/);
    expect((await watch("set", "q", "--clear", "every,type,remind")).code).toBe(0);
    const cleared = await shown();
    expect([cleared.remind, cleared.every, cleared.types, cleared.next_messages, cleared.note]).toEqual([
      undefined,
      undefined,
      undefined,
      null,
      "Ask Ann first.",
    ]);
    await take(record("2"));
    expect(JSON.parse((await watch("run")).out).data.note).toBe("Ask Ann first.");
  });

  test("has several receivers, each with messages and failures of its own", async () => {
    await addWebhook("q");
    expect((await watch("set", "q", "--also", "--to", "stdout")).code).toBe(0);
    await take(record("2"));
    receiver.respond = () => new Response("", { status: 500 });
    const failed = await watch("run");
    expect(JSON.parse(failed.out).data.counts.new).toBe(1);
    expect(failed.err).toMatch(/^q to stdout: delivered 1 new\nq to webhook \S+: Cannot deliver .*\n$/);
    const shown = async () => JSON.parse((await watch("show", "q", "--json")).out).receivers;
    expect((await shown()).map(({ to, state, matching }: Record<string, unknown>) => [to, state, matching])).toEqual([
      ["webhook", "failing", 1],
      ["stdout", "ok", 2],
    ]);
    receiver.respond = () => new Response("");
    await watch("resume", "q");
    expect((await watch("run")).err).toMatch(/^q to webhook \S+: delivered 1 new\nq to stdout: nothing new\n$/);
    expect((await watch("deliveries", "q")).out.match(/ (stdout|webhook) /g)).toHaveLength(2);
    expect((await watch("list")).out.match(/^q /gm)).toHaveLength(2);

    expect(await watch("set", "q", "--also", "--to", "stdout")).toMatchObject({
      code: 2,
      err: expect.stringContaining("a receiver twice"),
    });
    expect(await watch("set", "q", "--drop", "nobody")).toMatchObject({
      code: 2,
      err: expect.stringContaining("there is no receiver nobody"),
    });
    expect(await watch("set", "q", "--allow-http")).toMatchObject({ code: 2, err: expect.stringContaining("several receivers") });
    expect((await watch("set", "q", "--at-least", "critical")).code).toBe(0);
    expect((await watch("set", "q", "--drop", "stdout")).code).toBe(0);
    expect((await shown()).map(({ to }: Record<string, unknown>) => to)).toEqual(["webhook"]);
    expect(await watch("set", "q", "--drop", `webhook ${(await shown())[0].url.file}`)).toMatchObject({ code: 2 });
    expect((await watch("remove", "q")).code).toBe(0);
    expect((await watch("list")).out).toStartWith("No watches yet");
  });

  test("sends mail to several addresses, each as a receiver that begins when it is added", async () => {
    const env = { FUNDFEED_SMTP_URL: "smtp://localhost:1" };
    const mail = (...args: string[]) => fundfeed(["watch", ...args, "--data", data], env);
    const added = ["--to", "smtp", "--mail-from", "fundfeed@example.org", "--mail-to", "ann@example.org,bob@example.org"];
    expect((await mail("add", "q", ...added)).code).toBe(0);
    await take(record("2"));
    expect((await mail("set", "q", "--also", "--mail-to", "cy@example.org")).code).toBe(0);
    await watch("mute", "1");
    const { err } = await mail("run");
    expect(err.match(/q to \w+@example.org: Cannot deliver/g)).toHaveLength(2);
    expect(err).toContain("q to cy@example.org: nothing new\n");
    expect((await mail("set", "q", "--to", "smtp", "--mail-from", "fundfeed@example.org", "--mail-to", "dee@example.org")).code).toBe(0);
    const [only, ...others] = JSON.parse((await watch("show", "q", "--json")).out).receivers;
    expect([only.mail_to, only.pending.attempts, others]).toEqual(["dee@example.org", 1, []]); // It has the place of the first one.
  });

  test("mutes an opportunity in all watches or in some, and says what was skipped", async () => {
    await watch("add", "q", "--to", "stdout");
    await watch("add", "r", "--to", "stdout");
    expect((await watch("mute", "1", "r")).out).toBe('Muted "Quantum sensing" in r; fundfeed watch unmute 1 ends that\n');
    await take(record("1", { status: "cancelled" }));
    expect((await watch("run")).err).toBe("q: delivered 1 changed\nr: nothing new\n");
    expect((await watch("show", "r")).out).toMatch(/\nmuted +[0-9a-f-]{36} since \S+Z\n/);
    expect((await watch("unmute", "1")).out).toBe('Unmuted "Quantum sensing" in r (1 change skipped); fundfeed show 1 has them\n');
    expect(await watch("unmute", "1")).toMatchObject({ code: 1, err: "Cannot unmute 1: it is not muted\n" });
    expect((await watch("mute", "1")).out).toStartWith('Muted "Quantum sensing" in q, r;');
    expect(await watch("mute", "1", "x")).toMatchObject({ code: 1 });
    expect(await watch("mute", "nothing")).toMatchObject({ code: 1 });
  });

  test("runs a watch with a schedule at its time, between two runs of --every", async () => {
    let now = Date.parse("2030-03-01T07:50:00Z");
    const [out, waits]: [string[], number[]] = [[], []];
    const machine = { ...machineOf({}, { printLine: (text) => void out.push(text), printError: () => undefined }), now: () => now };
    const run = (...args: string[]) => runCommandLine(["watch", ...args, "--data", data], machine);
    await run("add", "q", "--to", "stdout", "--every", "day 08:00", "--zone", "UTC");
    await take(record("2"));
    const stop = Promise.withResolvers<() => void>();
    const cli: Cli = { machine: { ...machine, onStopSignal: (handle) => stop.resolve(handle) }, exitCode: 0 };
    const wait = async (ms: number) => {
      waits.push(ms);
      now += ms;
      if (waits.length === 2) (await stop.promise)();
    };
    const command = runCommand(newCommand("run", { about: "", mode: "change" }, cli), { wait });
    await command.parseAsync(["--every", "6h", "--data", data], { from: "user" });
    expect(waits).toEqual([10 * 60_000, 6 * 3_600_000 - 10 * 60_000]);
    expect(out.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).timestamp)).toEqual(["2030-03-01T08:00:00.000Z"]);
  });

  test.each([
    ["--every month", "It must be day, week or a day of the week"],
    ["--every monday 08:00", "put the time of --every into quotes"],
    ["--remind 3", "It must be days before the due date"],
    ["--remind 400d", "It must be days before the due date"],
    ["--type opportunity_added", '; not "opportunity_added"'],
    ["--note  ", "It must have 1 to 500 characters"],
  ])("refuses %s", async (options, reason) => {
    expect(await watch("add", "q", "--to", "stdout", ...options.split(" "))).toMatchObject({
      code: 2,
      err: expect.stringContaining(reason),
    });
  });

  let withMany: string | undefined; // One for both.
  async function makeMany(): Promise<string> {
    const many = aDirectory();
    await watch("add", "q", "--to", "stdout");
    rmSync(join(data, "search.db"));
    await take(...Array.from({ length: 1200 }, (_, n) => record(`N${n}`)));
    cpSync(data, many, { recursive: true });
    return many;
  }

  test.each(["run", "test q"])("stops at a signal while the search index is built: watch %s", async (command) => {
    withMany ??= await makeMany();
    cpSync(withMany, data, { recursive: true });
    const err: string[] = [];
    let isStopped = false;
    let stop = () => {};
    const machine: Machine = {
      ...machineOf({}, { printLine: () => undefined, printError: (text) => void err.push(text) }),
      onStopSignal: (handle) => {
        stop = handle;
      },
      showProgress: () => {
        if (!isStopped) setImmediate(() => stop()); // As the event loop delivers a signal.
        isStopped = true;
      },
    };
    const code = await runCommandLine(["watch", ...command.split(" "), "--data", data], machine);
    expect([code, err]).toEqual([1, ["Cannot finish the search index: it was stopped"]]);
  });

  test("sends a test message that changes nothing", async () => {
    await addWebhook("q");
    const before = readFileSync(join(data, "watch.db"));
    const { code, err } = await watch("test", "q");
    expect([code, err]).toEqual([0, expect.stringMatching(/^webhook \S+ accepted a test message\n$/)]);
    expect(JSON.parse(receiver.posted[0]?.body ?? "")).toMatchObject({ type: "watch.test", data: { counts: { new: 1 } } });
    expect(readFileSync(join(data, "watch.db"))).toEqual(before);
  });

  test("sends a test message of at most 256 KB", async () => {
    const classifications = { keywords: Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(900, "x")) };
    await take(...["1", "2", "3"].map((id) => record(id, { classifications })));
    await addWebhook("q");
    expect((await watch("test", "q")).code).toBe(0);
    const [{ body } = { body: "" }] = receiver.posted;
    expect(Buffer.byteLength(body)).toBeLessThan(256 * 1024);
    expect(JSON.parse(body)).toMatchObject({ data: { counts: { new: 2 }, events: [{ kind: "new" }, { kind: "new" }] } });
  });

  test("tells a failure that it did not try again from one that it did", async () => {
    await addWebhook("q");
    await take(record("2"));
    receiver.respond = () => new Response("", { status: 503, headers: { "retry-after": "7200" } });
    const ran = async () => JSON.parse((await watch("run", "--json")).out).watches[0].failure;
    const first = await ran();
    expect(first).toMatchObject({ reason: expect.stringMatching(/: it returned 503$/), tried: true });
    expect(await ran()).toEqual({ ...first, tried: false });
    expect((await watch("run")).err).toMatch(/: it returned 503; not tried now, sent again in [^;]+\n$/);
    expect(receiver.posted).toHaveLength(1);
  });

  test("says everywhere that a watch fails or is paused, and continues after resume", async () => {
    await addWebhook("q");
    await take(record("2"));
    const { host } = new URL(receiver.url);
    receiver.respond = () => new Response("", { status: 500 });
    expect(await watch("run")).toEqual({
      code: 1,
      out: "",
      err: `q: Cannot deliver to ${host}: it returned 500; sent again in 1 second\n`,
    });
    const failing = await watch("list");
    expect([failing.out, failing.err]).toEqual([
      expect.stringMatching(/failing {2}webhook/),
      `Watch q is failing: Cannot deliver to ${host}: it returned 500\n`,
    ]);
    expect((await watch("deliveries")).out).toMatch(/\nfailing +q +webhook \S+ +1 +1 new +msg_/);

    receiver.respond = () => new Response("", { status: 410 });
    const paused = await waitFor("410", async () => {
      const { code, err } = await watch("run");
      return err.includes("paused") && { code, err };
    });
    expect(paused).toEqual({ code: 1, err: `q: paused: Cannot deliver to ${host}: it returned 410, so it wants no more messages\n` });
    expect((await watch("list")).err).toBe(
      `Watch q is paused: Cannot deliver to ${host}: it returned 410, so it wants no more messages. fundfeed watch resume q ends the pause\n`,
    );
    expect((await watch("run")).code).toBe(1);

    receiver.respond = () => new Response();
    receiver.posted.length = 0;
    expect((await watch("resume", "q")).out).toBe("Resumed watch q; it continues where it was\n");
    expect((await watch("run")).err).toBe("q: delivered 1 new\n");
    expect(receiver.posted).toHaveLength(1);
  });

  test("continues with what changes from now on after resume --at-end", async () => {
    await addWebhook("q");
    receiver.respond = () => new Response("", { status: 410 });
    await take(record("2"));
    await watch("run");
    expect((await watch("resume", "q", "--at-end")).out).toBe("Resumed watch q; it continues with what changes from now on\n");
    receiver.respond = () => new Response();
    receiver.posted.length = 0;
    await take(record("3"));
    expect((await watch("run")).err).toBe("q: delivered 1 new\n");
    expect(receiver.posted.map(({ body }) => JSON.parse(body).data.events[0].opportunity.source.opportunity_id)).toEqual(["3"]);
  });

  test("never prints or stores a secret, whatever happens", async () => {
    const { secret } = await addWebhook("q");
    const key = readFileSync(secret, "utf8").trim();
    expect(key).toMatch(/^whsec_/);
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    const printed: string[] = [];
    const note = ({ out, err }: { out: string; err: string }) => printed.push(out, err);
    await take(record("2"));
    receiver.respond = ({ body }) => new Response(`${key} ${receiver.url}/T0/hunter2 ${body}`, { status: 500 });
    for (const args of [["run"], ["run", "--json"], ["list"], ["list", "--json"], ["show", "q"], ["show", "q", "--json"], ["test", "q"]])
      note(await watch(...args));
    for (const args of [["deliveries"], ["deliveries", "--json"], ["resume", "q"], ["run"]]) note(await watch(...args));
    const stored = readdirSync(data).map((name) => readFileSync(join(data, name), "latin1"));
    for (const text of [...printed, ...stored]) {
      expect(text).not.toContain(key.slice("whsec_".length));
      expect(text).not.toContain("hunter2");
    }
    expect(printed.join("")).toContain("it returned 500");
  });

  test("never prints or stores the password of a mail server or the address of a Slack webhook", async () => {
    const env = { FUNDFEED_SMTP_URL: "smtp://ann:hunter2@127.0.0.1:1", FUNDFEED_SLACK_URL: `${receiver.url}/services/hunter2` };
    const run = (...args: string[]) => fundfeed(["watch", ...args, "--data", data], env);
    const mail = ["--mail-to", "ann@example.org", "--mail-from", "fundfeed@example.org"];
    expect((await run("add", "mail", "--to", "smtp", ...mail)).code).toBe(0);
    expect((await run("add", "slack", "--to", "slack", "--allow-http", "--allow-private")).code).toBe(0);
    receiver.respond = () => new Response(receiver.url, { status: 404 });
    await take(record("2"));
    const printed = [
      await run("run"),
      await run("run", "--json"),
      await run("list"),
      await run("show", "mail", "--json"),
      await run("deliveries"),
    ];
    expect(printed[0]?.err).toBe(
      "mail: Cannot deliver to ann@example.org through 127.0.0.1: the connection was refused; sent again in 1 second\n" +
        `slack: Cannot deliver to ${new URL(receiver.url).host}: it returned 404; sent again in 1 second\n`,
    );
    const stored = readdirSync(data).map((name) => readFileSync(join(data, name), "latin1"));
    for (const text of [...printed.flatMap(({ out, err }) => [out, err]), ...stored]) expect(text).not.toContain("hunter2");
    expect(receiver.posted[0]?.path).toBe("/hook/services/hunter2");
    expect(JSON.parse(receiver.posted[0]?.body ?? "")).toMatchObject({
      text: expect.stringContaining("slack: 1 new"),
      blocks: expect.any(Array),
    });
  });

  test("tells at once what is not set up, counts no attempt, and runs the other watches", async () => {
    const env = { FUNDFEED_SMTP_URL: "smtp://127.0.0.1:1", FUNDFEED_SLACK_URL: `${receiver.url}/a` };
    const run = (env: Record<string, string>, ...args: string[]) => fundfeed(["watch", ...args, "--data", data], env);
    const mail = ["--mail-to", "ann@example.org", "--mail-from", "fundfeed@example.org"];
    expect((await run(env, "add", "mail", "--to", "smtp", ...mail)).code).toBe(0);
    expect((await run(env, "add", "slack", "--to", "slack", "--allow-http", "--allow-private")).code).toBe(0);
    const { secret } = await addWebhook("hook");
    await addWebhook("other");
    await take(record("2"));
    rmSync(secret);
    const told =
      "other: delivered 1 new\n" + // What failed comes last.
      `hook: Cannot read ${secret}: there is no such file; the next run tries again\n` +
      "mail: Cannot read FUNDFEED_SMTP_URL: it is not set; the next run tries again\n" +
      "slack: Cannot read FUNDFEED_SLACK_URL: it is not set; the next run tries again\n";
    expect(await run({}, "run")).toEqual({ code: 1, out: "", err: told });
    const waiting = { attempts: 0, delivered_at: null };
    expect(JSON.parse((await watch("deliveries", "--json")).out)).toMatchObject([
      { watch: "hook", ...waiting },
      { watch: "mail", ...waiting },
      { watch: "slack", ...waiting },
      { watch: "other", attempts: 1 },
    ]);
    expect(receiver.posted).toHaveLength(1);
    const why = "Cannot read FUNDFEED_SLACK_URL: it is not set";
    expect((await run(env, "list")).out.match(/ (ok|failing) /g)).toEqual([" failing ", " failing ", " ok ", " failing "]);
    expect((await run(env, "list")).err).toContain(`Watch slack is failing: ${why}\n`);
    expect((await run(env, "show", "slack")).out).toMatch(/failed +0 attempts\n(.*\n)*state +failing\n/);
    const receivers = async () => JSON.parse((await run(env, "show", "slack", "--json")).out).receivers;
    expect(await receivers()).toMatchObject([{ state: "failing", failed_total: 0, pending: { attempts: 0, error: why } }]);
    expect((await run({ ...env, FUNDFEED_SMTP_URL: "mail.example.org" }, "run", "mail")).err).toStartWith(
      "mail: Cannot use the URL in FUNDFEED_SMTP_URL: it must be such as smtps://user:password@mail.example.org, percent-encoded; ",
    );
    expect((await run(env, "run", "slack")).err).toBe("slack: delivered 1 new\n");
    expect(await receivers()).toMatchObject([{ state: "ok", delivered_total: 1, pending: null }]);
    expect((await run(env, "list")).err).not.toContain("slack");
  });

  test("counts no further attempt of a message whose receiver is no longer set up, and sends it once it is", async () => {
    const { secret } = await addWebhook("q");
    const text = readFileSync(secret);
    await take(record("2"));
    receiver.respond = () => new Response("", { status: 500 });
    await watch("run");
    const [before] = JSON.parse((await watch("deliveries", "--json")).out);
    rmSync(secret);
    const reason = `Cannot read ${secret}: there is no such file`;
    expect((await watch("run")).err).toBe(`q: ${reason}; the next run tries again\n`);
    const deliveries = JSON.parse((await watch("deliveries", "--json")).out);
    expect(deliveries).toEqual([{ ...before, error: reason, retry_at: expect.any(String) }]);
    writeFileSync(secret, text);
    receiver.respond = () => new Response();
    expect((await watch("run")).err).toBe("q: delivered 1 new\n");
  });

  test("keeps no contact in a message on its way, so that none is left after redact", async () => {
    const contact = (name: string) => ({ contacts: [{ name, email: `${name}@example.gov` }] });
    await take(record("3", contact("Ann")));
    await addWebhook("q", "--at-least", "noise");
    receiver.respond = () => new Response("", { status: 500 });
    await take(record("3", contact("Bob")), record("4", contact("Eve")));
    await watch("run");
    expect((await watch("deliveries")).out).toContain("1 new, 1 changed");
    expect((await fundfeed(["redact", "--data", data])).out).toContain("Contacts erased from 2 records");
    for (const name of readdirSync(data))
      expect([name, /(Ann|Bob|Eve)@example/.test(readFileSync(join(data, name), "latin1"))]).toEqual([name, false]);
    receiver.respond = () => new Response();
    await watch("resume", "q");
    await watch("run");
    expect(receiver.posted.map(({ body }) => body).join("")).not.toMatch(/Ann|Bob|Eve/);
  });

  test("writes metrics that a Prometheus reads, and a server has the same", async () => {
    await addWebhook("q");
    await watch("add", "idle", "--to", "stdout");
    await take(record("2"));
    receiver.respond = () => new Response("", { status: 410 });
    const path = inScratch("watch.prom");
    await watch("run", "--metrics-file", path);
    const text = readFileSync(path, "utf8");
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(text).toMatch(/^fundfeed_watch_run_timestamp_seconds \d+(\.\d+)?$/m);
    expect(text).toMatch(/^fundfeed_watch_oldest_undelivered_seconds\{watch="q"\} \d+(\.\d+)?$/m);
    expect(text).toContain('fundfeed_watch_paused{watch="q"} 1\n');
    expect(text).toContain('fundfeed_watch_failures_total{watch="q"} 1\n');
    expect(text).toContain('fundfeed_watch_messages_total{watch="idle"} 1\nfundfeed_watch_messages_total{watch="q"} 0\n');
    const later = Date.now() + 7_200_000;
    const served = (await watchFamiliesIn(data, later)).map(({ name, samples }) => [
      name,
      samples.map(({ value }) => Math.floor(value / 3600)),
    ]);
    expect(served).toContainEqual(["fundfeed_watch_oldest_undelivered_seconds", [0, 2]]);
    expect(served).toContainEqual(["fundfeed_watch_behind_seconds", [2, 2]]);
    expect(await watchFamiliesIn(aDirectory(), later)).toEqual([]);
  });

  test("reports what it delivered, and fails, if the metrics cannot be written", async () => {
    await watch("add", "q", "--to", "stdout");
    await take(record("2"));
    const path = join(aFile(""), "x");
    const { code, err } = await watch("run", "--metrics-file", path);
    expect([code, err.split("\n")]).toEqual([1, ["q: delivered 1 new", expect.stringContaining(`Cannot write ${path}: `), ""]]);
  });

  test("sends failed messages earlier with --every although the metrics cannot be written", async () => {
    await addWebhook("q");
    await take(record("2"));
    receiver.respond = () => new Response("", { status: receiver.posted.length < 2 ? 503 : 204 });
    const { err } = await runUntil("the second attempt", (line) => line.endsWith("q: delivered 1 new"), [
      "--metrics-file",
      join(aFile(""), "x"),
    ]);
    expect(err.filter((line) => line.includes(" Cannot write "))).not.toEqual([]);
  });

  test("has no metrics while a restore replaces it", async () => {
    await watch("add", "q", "--to", "stdout");
    const writer = new Database(join(data, "watch.db"));
    writer.run("pragma journal_mode = delete"); // As a restore does it.
    writer.run("begin exclusive");
    expect(await watchFamiliesIn(data, Date.now())).toEqual([]);
    writer.run("rollback");
    writer.close();
    expect(await watchFamiliesIn(data, Date.now())).not.toEqual([]);
  });

  test.each([
    ["pragma application_id = 1", "it is not a fundfeed watch.db"],
    ["insert into migrations values (2, '0001_later', 'hash', 0)", "a newer version of fundfeed made it"],
  ])("is refused after %s, to read and to write", async (change, reason) => {
    await watch("add", "q", "--to", "stdout");
    const other = new Database(join(data, "watch.db"));
    other.run(change);
    other.close();
    for (const command of ["list", "run"])
      expect(await watch(command)).toMatchObject({ code: 1, out: "", err: `Cannot open ${join(data, "watch.db")}: ${reason}\n` });
  });

  test("is in backups, and is restored to a place that the restored catalog has", async () => {
    await watch("add", "q", "--to", "stdout");
    await take(record("2"));
    expect((await watch("run")).err).toBe("q: delivered 1 new\n");
    const backup = join(aDirectory(), "backup");
    const backedUp = await fundfeed(["backup", backup, "--data", data, "--json"]);
    expect(JSON.parse(backedUp.out).files.map(({ name }: { name: string }) => name)).toEqual(["catalog.db", "state.db", "watch.db"]);
    const listed = (await watch("list")).out;
    expect((await fundfeed(["watch", "list", "--data", backup])).out).toBe(listed); // A backup is a data directory.

    await take(record("3"), record("1", { status: "cancelled" }));
    expect((await watch("run")).err).toBe("q: delivered 1 new, 1 changed\n");
    writeFileSync(join(data, "watch.db-journal"), "left by a kill");
    const lock = tryLockIn(data, "watch");
    expect((await fundfeed(["restore", backup, "--data", data])).err).toBe(
      `Cannot restore ${data}: a fundfeed watch run is at work there; stop it first\n`,
    );
    lock?.[Symbol.dispose]();
    expect((await fundfeed(["restore", backup, "--data", data])).code).toBe(0);
    expect((await watch("list")).out).toBe(listed);
    expect((await watch("run")).err).toBe("q: nothing new\n");
    await take(record("4"));
    expect((await watch("run")).err).toBe("q: delivered 1 new\n");
    expect(statSync(join(data, "watch.db")).mode & 0o777).toBe(0o600);
  });

  test("that is ahead of a restored catalog is paused", async () => {
    const backup = join(aDirectory(), "backup");
    await fundfeed(["backup", backup, "--data", data]);
    await watch("add", "q", "--to", "stdout");
    await take(record("2"));
    await watch("run");
    await fundfeed(["restore", backup, "--data", data]); // It has no watches, so they stay.
    const { code, err } = await watch("run");
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^q: paused: its position in the feed is lost: .* fundfeed watch resume q --at-end continues/),
    ]);
  });

  test("is run by one program at a time", async () => {
    await watch("add", "q", "--to", "stdout");
    const lock = tryLockIn(data, "watch");
    expect(await watch("run")).toEqual({
      code: 1,
      out: "",
      err: "Cannot run the watches: another fundfeed watch run is at work on them\n",
    });
    lock?.[Symbol.dispose]();
    expect((await watch("run")).code).toBe(0);
  });

  test("runs again at an interval, sends failed messages earlier, and ends at a signal", async () => {
    await addWebhook("q");
    await watch("add", "other", "--to", "stdout");
    await take(record("2"));
    receiver.respond = () => new Response("", { status: receiver.posted.length < 3 ? 503 : 204 });
    const { out, err } = await runUntil("the third attempt", (line) => line.endsWith("q: delivered 1 new"));
    expect(receiver.posted).toHaveLength(3);
    expect(new Set(receiver.posted.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1);
    expect(err.filter((line) => line.includes(" other: "))).toHaveLength(1); // Only failed messages are sent between two runs.
    expect(out).toHaveLength(1);
  });

  test.each([
    ["--to webhook", "error: --to webhook requires --url or --url-file"],
    ["--to pigeon", "error: option '--to <receiver>' argument 'pigeon' is invalid. Allowed choices are stdout, webhook, smtp, slack"],
    ["", "error: required option '--to <receiver>' not specified"],
    ["--to webhook --url http://hooks.example.org/", "error: http://hooks.example.org/ is not https; --allow-http allows that"],
    [
      "--to webhook --url https://x/?token=hunter2",
      "error: option '--url <url>' argument 'https://x/' is invalid. It must be an https URL without query",
    ],
    ["--to smtp --mail-to ann@example.org", "error: --to smtp requires --mail-to and --mail-from"],
    ["--to smtp --mail-to ann", "error: option '--mail-to <address>' argument 'ann' is invalid. It must be one mail address such as"],
    ["--to slack --url https://hooks.slack.com/services/hunter2", "error: the URL of --to slack is a secret; put it into a file"],
    ["--to stdout --url https://hooks.example.org/", "error: --url is not for --to stdout, but for webhook"],
    ["--to slack --secret-file x", "error: --secret-file is not for --to slack, but for webhook"],
    ["--to stdout --allow-http", "error: --allow-http is not for --to stdout, but for webhook and slack"],
    ["--to stdout --zone Mars/Base", "error: option '--zone <zone>' argument 'Mars/Base' is invalid. It must be a time zone such as"],
    ["--to stdout --statuss open", "error: unknown option '--statuss'\n(Did you mean --status?)"],
    ["--to stdout --at-least hgih", "error: option '--at-least <severity>' argument 'hgih' is invalid."],
  ])("refuses add q %s", async (args, message) => {
    const { code, err } = await watch("add", "q", ...args.split(" ").filter((word) => word !== ""));
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(err).not.toContain("hunter2");
    expect(existsSync(join(data, "watch.db"))).toBe(false);
  });

  test("refuses a bad name, a name that is taken, a source that no record has, and words without letters", async () => {
    expect((await watch("add", "a b", "--to", "stdout")).code).toBe(2);
    await watch("add", "q", "--to", "stdout");
    expect((await watch("add", "q", "--to", "stdout")).err).toBe(
      "Cannot add watch q: there is one with this name; fundfeed watch set q changes it\n",
    );
    expect((await watch("add", "r", "--source", "OWNN", "--to", "stdout")).err).toStartWith(
      "Cannot watch opportunities of source OWNN: no source has this code. There are ",
    );
    expect((await watch("add", "r", "!!", "--to", "stdout")).err).toStartWith('error: the words must have letters or digits; not "!!"\n');
  });

  test("takes a range that is empty now and will not be later", async () => {
    expect((await watch("add", "q", "--to", "stdout", "--closes-after", "2090-01-01", "--closes-before", "30d")).code).toBe(0);
    expect((await fundfeed(["find", "--closes-after", "2090-01-01", "--closes-before", "30d", "--data", data])).code).toBe(2);
  });
});

describe("fundfeed watch set", () => {
  /** The items of all messages, as "kind id". */
  const itemsOf = (bodies: readonly string[]): string[] =>
    bodies.flatMap((body) =>
      JSON.parse(body).data.events.map(
        (item: { kind: string; opportunity: { source: { opportunity_id: string } } }) =>
          `${item.kind} ${item.opportunity.source.opportunity_id}`,
      ),
    );
  const runItems = async () => itemsOf((await watch("run")).out.split("\n").slice(0, -1)).sort();
  const definitionOf = async (name: string) => JSON.parse((await watch("show", name, "--json")).out);

  test("changes what is given and nothing else, and says what the watch is about now", async () => {
    await watch("add", "q", "quantum", "--agency", "navy", "--status", "open", "--to", "stdout");
    const before = await definitionOf("q");
    expect(await watch("set", "q", "--status", "open,closed", "--at-least", "critical", "--clear", "agency")).toEqual({
      code: 0,
      out: "Changed watch q: status open or closed; words quantum; 1 match now. It continues where it was\n",
      err: "",
    });
    const filter = { words: "quantum", status: ["open", "closed"] };
    const receivers = [{ ...before.receivers[0], matching: 1 }];
    expect(await definitionOf("q")).toEqual({ ...before, filter, at_least: "critical", receivers });
    const { out } = await watch("set", "q", "sensing", "-optical", "--zone", "UTC", "--json");
    const given = { at_least: "critical", zone: "UTC", receivers: [{ to: "stdout" }] };
    expect(JSON.parse(out)).toEqual({ name: "q", filter: { ...filter, words: "sensing -optical" }, ...given, matching: 1 });
  });

  test("still reports what changed before it, and nothing that matches only because of the new filter", async () => {
    await take(record("both"), record("narrow", { status: "closed" }), record("wide", { title: "Photonics" }));
    await watch("add", "q", "quantum", "--to", "stdout");
    // Not reported yet when the filter changes.
    await take(record("new"), record("both", { status: "awarded" }), record("wide", { title: "Photonics", status: "cancelled" }));
    expect((await watch("set", "q", "--clear", "words", "--status", "open,awarded,cancelled")).code).toBe(0);
    expect(await runItems()).toEqual(["changed both", "changed wide", "new new"]);
    expect(await runItems()).toEqual([]);
    await take(record("wide", { title: "Photonics", status: "closed" }), record("narrow", { status: "awarded" }));
    expect(await runItems()).toEqual(["changed narrow", "changed wide", "left wide", "new narrow"]);
  });

  test("reports everything that matches as new with --from-start", async () => {
    await watch("add", "q", "--to", "stdout");
    await watch("set", "q", "--from-start");
    expect(await runItems()).toEqual(["new 1"]);
  });

  test("sends the message on its way to the new receiver, at once and as it was", async () => {
    const { secret } = await addWebhook("q");
    receiver.respond = () => new Response("", { status: 503, headers: { "retry-after": "86400" } });
    await take(record("2"));
    await watch("run");
    const moved = aFile(`${receiver.url}/moved\n`, "moved");
    expect((await watch("set", "q", "--url-file", moved)).code).toBe(0);
    expect((await definitionOf("q")).receivers[0]).toMatchObject({
      to: "webhook",
      url: { file: moved },
      secret: { file: secret },
      allow_private: true,
      allow_http: true,
    });
    receiver.respond = () => new Response();
    expect((await watch("run")).err).toBe("q: delivered 1 new\n");
    const [first, second] = receiver.posted;
    expect([second?.path, second?.body]).toEqual(["/hook/moved", first?.body]);
    expect((await watch("set", "q", "--to", "stdout")).code).toBe(0);
    expect((await definitionOf("q")).receivers).toMatchObject([{ to: "stdout" }]);
  });

  test("leaves out no change when Slack, with a digest on its way, is replaced by standard output", async () => {
    const many = Array.from({ length: 60 }, (_, n) => `N${n}`);
    await take(...many.map((id) => record(id)));
    const url = aFile(receiver.url, "slack.url");
    await watch("add", "q", "--to", "slack", "--url-file", url, "--allow-http", "--allow-private");
    receiver.respond = () => new Response("", { status: 503 });
    await take(...many.map((id) => record(id, { status: "cancelled" })));
    await watch("run");
    await watch("set", "q", "--to", "stdout");
    expect(await runItems()).toEqual(many.map((id) => `changed ${id}`).sort());
  });

  test("keeps a pause, and says so", async () => {
    await addWebhook("q");
    receiver.respond = () => new Response("", { status: 410 });
    await take(record("2"));
    await watch("run");
    const { code, err } = await watch("set", "q", "--at-least", "noise");
    expect([code, err]).toEqual([0, expect.stringMatching(/^Watch q is paused: .* fundfeed watch resume q ends the pause\n$/)]);
    expect((await definitionOf("q")).receivers[0].state).toBe("paused");
  });

  test.each([
    ["", "error: nothing to change; give words, filters or other options"],
    ["--agency navy --clear agency", "error: give a new value of --agency or --clear agency, not both"],
    ["--clear agncy", 'There is no filter "agncy" (did you mean "agency"?).'],
    ["--min-amount 50", "error: --min-amount 50 must not be more than --max-amount 10"],
    ["--secret-file x", "error: --secret-file is not for --to stdout, but for webhook"],
    ["--to webhook", "error: --to webhook requires --url or --url-file"],
    ["--to smtp --mail-to ann@example.org", "error: --to smtp requires --mail-to and --mail-from"],
    ["--statuss open", "error: unknown option '--statuss'\n(Did you mean --status?)"],
    ["quantum --words photonics", "error: give the words as arguments or with --words, not both"],
  ])("refuses set q %s, and changes nothing", async (args, message) => {
    await watch("add", "q", "--to", "stdout", "--max-amount", "10");
    const before = readFileSync(join(data, "watch.db"));
    const { code, err } = await watch("set", "q", ...args.split(" ").filter((word) => word !== ""));
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(readFileSync(join(data, "watch.db"))).toEqual(before);
  });

  test("refuses a watch that does not exist, and a source that no record has", async () => {
    await watch("add", "q", "--to", "stdout");
    expect((await watch("set", "r", "--at-least", "noise")).err).toBe(
      "Cannot find a watch r; fundfeed watch list shows the ones that exist\n",
    );
    expect((await watch("set", "q", "--source", "OWNN")).err).toStartWith("Cannot watch opportunities of source OWNN: ");
  });
});

describe("fundfeed watch check", () => {
  test("shows what the next run adds and takes away, and leaves the watch where it is", async () => {
    await watch("add", "q", "quantum", "--to", "stdout");
    await take(record("1", { title: "Photonics" }), record("2"), record("3"));
    const shown = await watch("check");
    expect(shown.out).toMatch(/^name +known +matching +joining +leaving +to\nq +1 +2 +2 +1 +stdout\n$/);
    const [{ joining, leaving, ...counts }] = JSON.parse((await watch("check", "q", "--json")).out);
    expect([counts, joining.length, leaving.length]).toEqual([{ name: "q", to: "stdout", known: 1, matching: 2 }, 2, 1]);
    const messages = (await watch("run", "q")).out;
    for (const id of [...joining, ...leaving]) expect(messages).toContain(id);
    expect((await watch("check")).out).toMatch(/q +2 +2 +0 +0 +stdout/);
    expect((await watch("check", "r")).code).toBe(1);
  });
});
