/** Mail as a real SMTP server gets it. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { SMTPServer } from "smtp-server";
import { isMailAddress } from "../../src/text/mail-address.ts";
import type { DeliveryError } from "../../src/watch/attempts.ts";
import type { Message } from "../../src/watch/message.ts";
import { sendMail, smtpServer } from "../../src/watch/smtp.ts";
import type { MailReceiver } from "../../src/watch/watch.ts";
import { selfSigned } from "../support/certificates.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const receiver: MailReceiver = { to: "smtp", url: { variable: "SMTP" }, mail_to: "ann@example.org", mail_from: "fundfeed@example.com" };
const data: Message["data"] = { watch: "q", filter: {}, counts: { new: 0, changed: 0, due: 0, left: 0 }, events: [] };
const message = { id: "msg_1", body: JSON.stringify({ id: "msg_1", type: "watch.changes", timestamp: "2026-03-01T12:00:00.000Z", data }) };

type Options = ConstructorParameters<typeof SMTPServer>[0];
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Starts a server that accepts everything, with the given options in place of its own. Returns its port and the mails. */
async function startServer(options: Options = {}): Promise<{ port: number; mails: string[] }> {
  const mails: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, _, done) => {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", () => {
        mails.push(Buffer.concat(pieces).toString());
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined);
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, "127.0.0.1", () => resolve((listening.address() as { port: number }).port));
  });
  stops.push(() => server.close(() => undefined));
  return { port, mails };
}

/** Starts a server that does with each connection what the test wants. */
async function startRawServer(answer: (socket: Socket) => unknown): Promise<{ port: number }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return server.address() as { port: number };
}

const running = new AbortController().signal;
const patient = { socketTimeout: 100_000, greetingTimeout: 100_000, totalMs: 100_000 };
const send = (url: string, stop = running, timeouts = patient) =>
  sendMail(receiver, message, "America/New_York", { env: { SMTP: url } }, stop, timeouts).then(
    () => "accepted",
    (error: DeliveryError) => error.message,
  );

const refusal = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

describe("sendMail()", () => {
  test("sends text and HTML, and the same Message-ID and Date at every attempt", async () => {
    const { port, mails } = await startServer();
    expect([await send(`smtp://127.0.0.1:${port}`), await send(`smtp://127.0.0.1:${port}`)]).toEqual(["accepted", "accepted"]);
    const [first = "", second = ""] = mails;
    for (const line of [
      "From: fundfeed@example.com",
      "To: ann@example.org",
      "Subject: q: nothing matches",
      "Message-ID: <msg_1@example.com>",
      "Date: Sun, 01 Mar 2026 12:00:00 +0000",
      "Auto-Submitted: auto-generated",
    ])
      for (const mail of [first, second]) expect(mail).toContain(`${line}\r\n`);
    expect(first).toContain("Content-Type: text/plain; charset=utf-8\r\n");
    expect(first).toContain("Content-Type: text/html; charset=utf-8\r\n");
  });

  test("logs in with the user and password of the URL", async () => {
    const seen: unknown[] = [];
    const { port } = await startServer({
      onAuth: ({ username, password }, _, done) => {
        seen.push(username, password);
        done(null, { user: "ann" });
      },
    });
    expect(await send(`smtp://ann%40example.org:p%2Fss@127.0.0.1:${port}`)).toBe("accepted");
    expect(seen).toEqual(["ann@example.org", "p/ss"]);
  });

  test.each<[string, NonNullable<Options>, string]>([
    ["refuses the recipient", { onRcptTo: (_, __, done) => done(refusal(550, "5.1.1 No such user hunter2")) }, "it returned 550 5.1.1"],
    ["refuses the sender for now", { onMailFrom: (_, __, done) => done(refusal(451, "4.7.1 Greylisted")) }, "it returned 451 4.7.1"],
    ["refuses the connection", { onConnect: (_, done) => done(refusal(421, "Busy")) }, "it returned 421"],
    [
      "refuses the mail at its end",
      {
        onData: (stream, _, done) => {
          stream.resume();
          stream.on("end", () => done(refusal(552, "5.2.2 Mailbox full")));
        },
      },
      "it returned 552 5.2.2",
    ],
    [
      "refuses the password and repeats it",
      { onAuth: ({ password }, _, done) => done(refusal(535, `5.7.8 ${password} is wrong`)) },
      "the server refused the user or the password: it returned 535 5.7.8",
    ],
  ])("says why a server %s, without repeating its text", async (_, options, reason) => {
    const { port, mails } = await startServer(options);
    const said = await send(`smtp://${options.onAuth === undefined ? "" : "ann:hunter2@"}127.0.0.1:${port}`);
    expect(said).toBe(`Cannot deliver to ann@example.org through 127.0.0.1: ${reason}`);
    expect(mails).toEqual([]);
  });

  test.each<[string, (socket: Socket) => void, string]>([
    ["closes at once", (socket) => socket.destroy(), "the connection was closed"],
    ["says nothing", () => undefined, "it did not respond in time"],
    ["hangs after its greeting", (socket) => socket.write("220 x ESMTP\r\n"), "it did not respond in time"],
    ["speaks something else", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "it does not speak SMTP"],
  ])("fails if the server %s", async (_, answer, reason) => {
    const { port } = await startRawServer(answer);
    const limits = reason === "it did not respond in time" ? { ...patient, socketTimeout: 500, greetingTimeout: 500 } : patient;
    const said = await send(`smtp://127.0.0.1:${port}`, running, limits);
    expect(said).toStartWith(`Cannot deliver to ann@example.org through 127.0.0.1: ${reason}`);
  });

  test("fails if the connection is cut during the mail", async () => {
    const { port } = await startRawServer((socket) => {
      socket.write("220 x ESMTP\r\n");
      socket.on("data", (line) => (String(line).startsWith("DATA") ? socket.destroy() : socket.write("250 x\r\n")));
    });
    expect(await send(`smtp://127.0.0.1:${port}`)).toContain(": the connection was closed");
  });

  /** A greeting that never ends: no pause is long, and the next line always comes. */
  const drip = (socket: Socket) => {
    const timer = setInterval(() => socket.write("220-x\r\n"), 10);
    socket.on("close", () => clearInterval(timer));
  };

  test("fails after the limit of the whole delivery if the server sends line after line", async () => {
    const { port } = await startRawServer(drip);
    expect(await send(`smtp://127.0.0.1:${port}`, running, { ...patient, totalMs: 200 })).toBe(
      "Cannot deliver to ann@example.org through 127.0.0.1: it took longer than 0.2 s",
    );
  });

  test("ends at a stop signal, whatever the server does", async () => {
    const stop = new AbortController();
    const { port } = await startRawServer((socket) => {
      drip(socket);
      stop.abort();
    });
    expect(await send(`smtp://127.0.0.1:${port}`, stop.signal)).toBe("Cannot deliver to ann@example.org through 127.0.0.1: it was stopped");
  });

  test("refuses a certificate that nobody trusts", async () => {
    const directory = aDirectory();
    selfSigned(directory, "own");
    const [cert, key] = ["crt", "key"].map((kind) => readFileSync(`${directory}/own.${kind}`));
    const { port, mails } = await startServer({ secure: true, cert, key });
    expect(await send(`smtps://ann:hunter2@localhost:${port}`)).toStartWith(
      "Cannot deliver to ann@example.org through localhost: its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)",
    );
    expect(mails).toEqual([]);
  });
});

describe("smtpServer()", () => {
  const server = (url: string) => smtpServer(receiver, { env: { SMTP: url } });

  test("requires TLS, except on this machine and where the URL says otherwise", () => {
    expect(server("smtps://a:b@mail.example.org")).toMatchObject({ port: 465, secure: true, requireTLS: false, ignoreTLS: false });
    expect(server("smtp://mail.example.org")).toMatchObject({ port: 587, secure: false, requireTLS: true, ignoreTLS: false });
    expect(server("smtp://mail.example.org?requireTLS=false")).toMatchObject({ requireTLS: false });
    expect(server("smtp://localhost")).toMatchObject({ host: "localhost", port: 25, requireTLS: false, ignoreTLS: true });
    expect(server("smtp://[::1]:2525")).toMatchObject({ host: "::1", port: 2525 });
  });

  test.each(["mail.example.org", "https://mail.example.org", "smtp://", "smtp://a:%zz@x"])("refuses %s, without repeating it", (url) => {
    expect(() => server(url)).toThrow(
      "Cannot use the URL in SMTP: it must be such as smtps://user:password@mail.example.org, percent-encoded",
    );
  });
});

test("a mail address is one plain address", () => {
  expect(["a@b.org", "a+b@b.example", "ü@example.org"].filter((each) => !isMailAddress(each))).toEqual([]);
  expect(["a", "a@b@c", "a@b, c@d", "Ann <a@b>", "a@b\r\nBcc: c@d", "", "@b", "a@"].filter(isMailAddress)).toEqual([]);
});
