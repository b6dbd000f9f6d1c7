/** Channels of members: which addresses are taken, and where their messages go. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { endMembers } from "../../src/accounts/members.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openChannel, readChannel, readChannelHosts, sealChannel } from "../../src/watch/member-channel.ts";
import { sendToMember } from "../../src/watch/member-mail.ts";
import { addOwnWatch } from "../../src/watch/member-watches.ts";
import { runWatches } from "../../src/watch/run.ts";
import { readWatchForm } from "../../src/watch/watch-form.ts";
import { dropScratch } from "../support/imports.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { aDefinition, aSignedInMember, aWatched, textOfWatchFile } from "./watched.ts";

afterAll(dropScratch);

const SECRET = new Uint8Array(32);
const TEAMS = "https://prod-12.westus.logic.azure.com/workflows/0a1b/triggers/manual/paths/invoke?sig=secret";
const hosts = readChannelHosts(" logic.azure.com, http://127.0.0.1:8065/ ");

describe("a channel", () => {
  test.each([TEAMS, "https://logic.azure.com/x", "https://logic.azure.com:443/x", "http://127.0.0.1:8065/hook"])("may be %s", (text) => {
    expect(readChannel(text, hosts).href).toBe(new URL(text).href);
  });

  test.each([
    ["", "Enter the address that Teams shows"],
    ["logic.azure.com/x", "Enter the address that Teams shows"],
    ["javascript:alert(1)", "Enter the address that Teams shows"],
    ["https://user@logic.azure.com/x", "Enter the address that Teams shows"],
    [
      "http://logic.azure.com/x",
      "This server sends only to logic.azure.com, http://127.0.0.1:8065. Its operator can allow logic.azure.com.",
    ],
    ["https://logic.azure.com:8443/x", "can allow logic.azure.com:8443"],
    ["https://evil-logic.azure.com.evil.example/x", "can allow evil-logic.azure.com.evil.example"],
    ["https://xlogic.azure.com/x", "can allow xlogic.azure.com"],
    ["http://127.0.0.1:8066/hook", "can allow 127.0.0.1:8066"],
    ["https://169.254.169.254/latest", "can allow 169.254.169.254"],
  ])("cannot be %s", (text, reason) => {
    expect(() => readChannel(text, hosts)).toThrow(reason);
  });

  test("has an address of at most 800 characters", () => {
    const address = (length: number) => "https://logic.azure.com/".padEnd(length, "x");
    expect(readChannel(address(800), hosts).href).toHaveLength(800);
    expect(() => readChannel(address(801), hosts)).toThrow("Enter the address");
  });

  test.each(["localhost", "*.azure.com", "https://", "https://chat.example/path", "ftp://chat.example", "10.0.0.5", "a b"])(
    "of an operator's list cannot be at %s",
    (text) => {
      expect(() => readChannelHosts(text)).toThrow("must list domains such as logic.azure.com, or addresses of servers");
    },
  );

  test("is opened with the secret that sealed it, while its host is allowed", () => {
    const sealed = sealChannel(new URL(TEAMS), SECRET);
    expect(JSON.stringify(sealed)).not.toContain("workflows");
    const env = { FUNDFEED_MEMBER_HOSTS: "logic.azure.com" };
    expect(openChannel(sealed, { env }, SECRET)).toEqual({ url: { text: TEAMS }, allow_private: false, allow_http: false });
    expect(() => openChannel(sealed, { env }, new Uint8Array(32).fill(1))).toThrow("enter it again");
    expect(() => openChannel(sealed, { env: {} }, SECRET)).toThrow("FUNDFEED_MEMBER_HOSTS does not allow it");
    expect(() => openChannel(sealed, { env: { FUNDFEED_MEMBER_HOSTS: "?" } }, SECRET)).toThrow(
      "Cannot read FUNDFEED_MEMBER_HOSTS: it must",
    );
  });

  test("that a watch has stays with an empty field; a new watch needs an address", () => {
    const form = new URLSearchParams("title=Q&when=now&zone=UTC&at_least=material&to=channel&channel=");
    const receiver = sealChannel(new URL(TEAMS), SECRET);
    const read = (context: Pick<Parameters<typeof readWatchForm>[1], "hosts" | "receiver">) =>
      readWatchForm(form, { ...context, secret: SECRET });
    expect(read({ hosts, receiver })).toMatchObject({ choices: { title: "Q" } });
    expect(read({ hosts, receiver })).not.toHaveProperty("choices.receiver");
    expect(read({ hosts, receiver: { to: "member" } })).toEqual({
      errors: new Map([["channel", "Enter the address that Teams shows for the workflow. It begins with https://."]]),
    });
    form.set("channel", TEAMS);
    expect(read({ hosts, receiver })).toMatchObject({ choices: { receiver } });
    expect(read({ hosts: [], receiver })).toMatchObject({
      errors: new Map([["channel", "This server sends only to mailboxes. Its operator can allow prod-12.westus.logic.azure.com."]]),
    });
  });
});

describe("messages of a member", () => {
  let receiver: Receiver | undefined;
  afterEach(() => receiver?.stop());

  test("go to the channel of each watch, apart from her mail, and end with her", async () => {
    receiver = startReceiver();
    const env = { FUNDFEED_MEMBER_HOSTS: new URL(receiver.url).origin, FUNDFEED_PAGES_URL: "https://feeds.example" };
    const { file, take, db, index, clock, context, directory } = await aWatched();
    const { state, owner } = await aSignedInMember(clock);
    const machine = { env, now: () => clock.now, randomBytes };
    const mails: string[][] = [];
    const run = async () => {
      await catchUp(db, index);
      return runWatches({
        ...context(),
        sendToMember: async (parts, id, stop) => {
          if (parts.some(({ watch }) => watch.definition.receiver.to === "channel"))
            return sendToMember(parts, id, { machine, state, secret: SECRET }, stop);
          mails.push(parts.map(({ watch }) => watch.name));
        },
      });
    };
    const channel = sealChannel(new URL(receiver.url), SECRET);
    for (const [name, to] of [
      ["a", { to: "member" }],
      ["b", channel],
      ["c", { to: "member" }],
      ["d", channel],
    ] as const) {
      const definition = aDefinition({ title: `Title of ${name}`, receiver: to });
      await addOwnWatch(file, owner, name, definition, { at: clock.now, feed: null, matched: [] });
    }
    await take([{ source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing", status: "open" }]);
    const outcomes = await run();
    expect(outcomes.map(({ watch, to, messages }) => [watch, to, messages])).toEqual([
      ["a", "its member", 1],
      ["b", `its member in Teams, by ${new URL(receiver.url).host}`, 1],
      ["c", "its member", 1],
      ["d", `its member in Teams, by ${new URL(receiver.url).host}`, 1],
    ]);
    expect(mails).toEqual([["a", "c"]]);
    const texts = receiver.posted.map(({ body }) => body).sort();
    expect(texts).toEqual([expect.stringContaining("Title of b"), expect.stringContaining("Title of d")]);
    expect(texts[0]).toContain("[Change or pause this watch](https://feeds.example/watches/b)");
    expect(textOfWatchFile(directory)).not.toContain("/hook");

    await endMembers(state, ["ann@uni.example"], clock.now);
    await take([{ source: { code: "OWN", opportunity_id: "2" }, title: "Quantum optics", status: "open" }]);
    const ended = await run();
    expect(receiver.posted).toHaveLength(2);
    expect(ended.find(({ watch }) => watch === "b")?.paused).toBe(
      `Cannot deliver to member ${owner}: it was removed, or members are shut out`,
    );
    await state.close();
  });

  test("that a channel does not accept are told by its host, and wait", async () => {
    receiver = startReceiver();
    receiver.respond = () => new Response(null, { status: 500 });
    const env = { FUNDFEED_MEMBER_HOSTS: new URL(receiver.url).origin };
    const { file, take, db, index, clock, context } = await aWatched();
    const { state, owner } = await aSignedInMember(clock);
    const definition = aDefinition({ receiver: sealChannel(new URL(receiver.url), SECRET) });
    await addOwnWatch(file, owner, "a", definition, { at: clock.now, feed: null, matched: [] });
    await take([{ source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing", status: "open" }]);
    await catchUp(db, index);
    const machine = { env, now: () => clock.now };
    const [outcome] = await runWatches({
      ...context(),
      sendToMember: (parts, id, stop) => sendToMember(parts, id, { machine, state, secret: SECRET }, stop),
    });
    expect(outcome?.failure?.reason).toBe(`Cannot deliver to ${new URL(receiver.url).host}: it returned 500`);
    await state.close();
  });
});
