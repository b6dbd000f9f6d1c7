/** Mails to members and to receivers of the operator, as a mail server gets or refuses them. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog, openState, openWatchFile } from "../../db/sqlite/open.ts";
import { allowMembers, signInMember } from "../../src/accounts/members.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { formatInstant, HOUR_MS } from "../../src/text/instant.ts";
import { sendToMember, watchesToStop } from "../../src/watch/member-mail.ts";
import { addOwnWatch } from "../../src/watch/member-watches.ts";
import { runWatches } from "../../src/watch/run.ts";
import { send } from "../../src/watch/send.ts";
import { listWatches, resume } from "../../src/watch/watches.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { aMailSink, type MailSink } from "../support/mail-sink.ts";
import { aDefinition, aSignedInMember, aWatched, textOfWatchFile, theWatch } from "./watched.ts";

afterAll(dropScratch);

const SECRET = new Uint8Array(32);
const record = (id: string) => ({ source: { code: "OWN", opportunity_id: id }, title: `Title ${id}`, status: "open" });

let sink: MailSink;
let env: Record<string, string>;
beforeEach(async () => {
  sink = await aMailSink();
  env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "fundfeed@feeds.example", FUNDFEED_PAGES_URL: "https://feeds.example" };
});
afterEach(() => sink.close());

/** A member with a watch of everything, to whom mails go through the sink. */
async function aMember() {
  const watched = await aWatched();
  const { file, clock, db, index, context, take } = watched;
  const { state, owner } = await aSignedInMember(clock);
  const definition = aDefinition({ title: "Mine", receiver: { to: "member" } });
  await addOwnWatch(file, owner, "mine", definition, { at: clock.now, feed: null, matched: [] });
  const machine = { env, now: () => clock.now };
  const run = async () => {
    await catchUp(db, index);
    const [outcome] = await runWatches({
      ...context(),
      sendToMember: (parts, id, stop) => sendToMember(parts, id, { machine, state, secret: SECRET }, stop),
    });
    return outcome;
  };
  await take([record("1")]);
  return { ...watched, state, owner, run };
}

describe("a mail that the server refuses", () => {
  test("for good pauses the watch after a day, without the address, and comes when it is resumed", async () => {
    const { run, clock, file, owner, directory } = await aMember();
    sink.refuses = () => 550;
    const reason = `Cannot deliver to member ${owner} through 127.0.0.1: it returned 550`;
    expect((await run())?.failure?.reason).toBe(reason);
    for (const hours of [6, 12, 23]) {
      clock.now += hours === 23 ? 11 * HOUR_MS : 6 * HOUR_MS;
      expect((await run())?.paused).toBeNull();
    }
    clock.now += 6 * HOUR_MS;
    expect((await run())?.paused).toBe(`the address was refused for a day: ${reason}`);
    expect(textOfWatchFile(directory)).not.toContain("uni.example");
    sink.refuses = () => false;
    clock.now += 48 * HOUR_MS;
    await run();
    expect(sink.mails).toEqual([]);
    await resume(file, await theWatch(file, "mine"));
    await run();
    expect(sink.mails).toMatchObject([{ to: "ann@uni.example", text: expect.stringContaining("Title 1") }]);
  });

  test.each([450, 452, 554])("with %p pauses as soon as its code says", async (code) => {
    const { run, clock } = await aMember();
    sink.refuses = () => code;
    await run();
    const days: (string | null)[] = [];
    for (let n = 1; n <= 3; n++) {
      for (let quarter = 0; quarter < 4; quarter++) {
        clock.now += 6 * HOUR_MS;
        await run();
      }
      days.push((await run())?.paused?.replace(/:.*/, "") ?? null);
    }
    const forGood = "the address was refused for a day";
    expect(days).toEqual(code === 554 ? [forGood, forGood, forGood] : [null, null, "it has failed for three days"]);
  });
});

test("a mail of a watch of the operator has the headers and the link of a list, if the pages have an address", async () => {
  const { file, add } = await aWatched();
  const receiver = {
    to: "smtp",
    url: { variable: "FUNDFEED_SMTP_URL" },
    mail_from: "f@feeds.example",
    mail_to: "team@lab.example",
  } as const;
  const watch = await add("quantum", { receiver });
  const other = await add("other", { receiver });
  const machine = machineOf(env, { printLine: () => undefined, printError: () => undefined });
  const data = { watch: "quantum", filter: {}, counts: { new: 0, changed: 0, due: 0, left: 0 }, events: [] };
  const message = { id: "msg_1", body: JSON.stringify({ id: "msg_1", type: "watch.changes", timestamp: formatInstant(0), data }) };
  const stop = new AbortController().signal;
  await send(watch, message, machine, stop, { origin: "https://feeds.example", secret: SECRET });
  await send(other, message, { ...machine, env: { ...env, FUNDFEED_PAGES_URL: "" } }, stop);
  const [{ head, text } = { head: "", text: "" }, without] = sink.mails;
  const [, token = ""] = /^List-Unsubscribe: <https:\/\/feeds\.example\/unsubscribe\/([\w.-]+)>$/m.exec(head) ?? [];
  expect(head).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  expect(head).toContain("List-ID: <quantum.watches.feeds.example>");
  expect(text).toContain(`Stop these mails: https://feeds.example/unsubscribe/${token}`);
  expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("lab.example");
  expect((await watchesToStop(file, SECRET, token)).map(({ name }) => name)).toEqual(["quantum"]);
  expect(await watchesToStop(file, SECRET, `${token}A`)).toEqual([]);
  expect(without?.head).not.toContain("List-");
  expect(without?.text).not.toContain("All opportunities and what changed");
  for (const wrong of ["feeds.example", "mailto:a@b.example"])
    expect(send(other, message, { ...machine, env: { ...env, FUNDFEED_PAGES_URL: wrong } }, stop)).rejects.toThrow(
      "Cannot use FUNDFEED_PAGES_URL: it must be an address such as https://funding.example.org",
    );
});

test("restore brings nobody back into the mails who was removed since the backup", async () => {
  const [data, backup] = [aDirectory(), join(aDirectory(), "backup")];
  const now = Date.UTC(2026, 2, 1);
  await openCatalog(data, now).close();
  const state = openState(data, now);
  await allowMembers(state, ["@uni.example"], now);
  const ids = [];
  for (const address of ["ann@uni.example", "bob@uni.example"])
    ids.push((await signInMember(state, address, 0, { randomBytes, now: () => now })) ?? "");
  await state.close();
  const watches = openWatchFile(data, now);
  for (const id of ids)
    await addOwnWatch(watches, id, `of-${id.slice(-4)}`, aDefinition({ receiver: { to: "member" } }), { at: now, feed: null, matched: [] });
  await watches.close();
  const run = (...args: string[]) => fundfeed([...args, "--data", data], env);
  expect((await run("backup", backup)).code).toBe(0);
  expect((await run("members", "add", "!ann@uni.example")).out).toContain("removed 1 member, with 1 watch");

  const restored = await run("restore", backup);
  expect(restored.err).toContain("2 watches of members are paused: the backup may have members who were removed since");
  const records = join(aDirectory(), "records.jsonl");
  await Bun.write(records, `${JSON.stringify(record("1"))}\n`);
  expect((await run("import", "records", records)).code).toBe(0);
  await run("watch", "run");
  expect(sink.mails).toEqual([]);
  await run("members", "add", "!ann@uni.example");
  const after = openWatchFile(data, now);
  for (const watch of await listWatches(after)) await resume(after, watch);
  await after.close();
  await run("watch", "run");
  expect(sink.mails.map(({ to }) => to)).toEqual(["bob@uni.example"]);
  const left = openWatchFile(data, now);
  expect((await listWatches(left)).map(({ owner }) => owner)).toEqual(ids.slice(1));
  await left.close();
  for (const file of ["watch.db", "watch.db-wal"])
    if (existsSync(join(data, file))) expect(readFileSync(join(data, file)).includes("uni.example")).toBe(false);
});
