/** A mail server that keeps what it gets, and refuses or waits as a test wants. */
import { SMTPServer } from "smtp-server";

export type SunkMail = { to: string; head: string; text: string };

export type MailSink = {
  url: string;
  mails: SunkMail[];
  /** Refuses the addresses for which this returns a code, such as 550. */
  refuses: (address: string) => number | false;
  /** A mail is accepted once this has resolved. */
  hold: Promise<void>;
  close: () => void;
};

export async function aMailSink(): Promise<MailSink> {
  const sink: MailSink = { url: "", mails: [], refuses: () => false, hold: Promise.resolve(), close: () => server.close(() => undefined) };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["AUTH", "STARTTLS"],
    onRcptTo: ({ address }, _, done) => {
      const responseCode = sink.refuses(address);
      done(responseCode === false ? undefined : Object.assign(new Error(`no such user ${address}`), { responseCode }));
    },
    onData: (stream, { envelope }, done) => {
      const pieces: Buffer[] = [];
      stream.on("data", (piece: Buffer) => pieces.push(piece));
      stream.on("end", async () => {
        await sink.hold;
        sink.mails.push({ to: envelope.rcptTo[0]?.address ?? "", ...parsed(Buffer.concat(pieces).toString()) });
        done();
      });
    },
  });
  server.on("error", () => undefined);
  sink.url = await new Promise<string>((resolve) => {
    const listening = server.listen(0, "127.0.0.1", () => resolve(`smtp://127.0.0.1:${(listening.address() as { port: number }).port}`));
  });
  return sink;
}

/** The head with each field on one line, and all of the rest decoded. */
function parsed(raw: string): Omit<SunkMail, "to"> {
  const [head = ""] = raw.split(/\r?\n\r?\n/);
  const text = raw.replace(/=\r?\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { head: head.replace(/\r?\n[ \t]+/g, " "), text };
}
