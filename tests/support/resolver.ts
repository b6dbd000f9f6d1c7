/**
 * Runs a command where host names are answered in one chosen way. It gets a network and a mount namespace of its own, with nothing but
 * loopback, on which this file answers as its name server: `bun tests/support/resolver.ts <answer> <command…>`, inside the namespaces.
 */
import { createSocket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a name server may do: an RCODE of RFC 1035 §4.1.1 without any record, an address of some other machine, or nothing. */
const answers = { "no error": 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5, "an address": 0, silence: 0, "no server": 0 };
export type Answer = keyof typeof answers;
export const everyAnswer = Object.keys(answers) as Answer[];

/** Longer than a connection to PostgreSQL is waited for. */
const GIVES_UP_SECONDS = 6;
const HEADER_BYTES = 12;
/** An A record of the name in the question: 203.0.113.9, which is nobody's. */
const ADDRESS = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 9]);

const ENTER = `
  mount --bind "$0/resolv.conf" /etc/resolv.conf && mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf && ip link set lo up && exec "$@"`;

/** The command that runs another one there; `directory` is for its files. */
export function withNameServer(directory: string, answer: Answer, command: readonly string[]): string[] {
  writeFileSync(join(directory, "resolv.conf"), `nameserver 127.0.0.1\noptions timeout:${GIVES_UP_SECONDS} attempts:1\n`);
  writeFileSync(join(directory, "nsswitch.conf"), "hosts: files dns\n");
  return [...enter(directory), process.execPath, import.meta.path, answer, ...command];
}

function enter(directory: string): string[] {
  return ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c", ENTER, directory];
}

/** Whether this machine lets us have such namespaces. */
export function canReplaceResolver(directory: string): boolean {
  if (Bun.which("unshare") === null) return false;
  const tried = Bun.spawnSync(withNameServer(directory, "no server", ["true"]), { stdio: ["ignore", "ignore", "ignore"] });
  return tried.exitCode === 0;
}

function respond(query: Buffer, answer: Answer): Buffer {
  const nameEnd = query.indexOf(0, HEADER_BYTES);
  const isOfIpv4 = query.readUInt16BE(nameEnd + 1) === 1;
  const record = answer === "an address" && isOfIpv4 ? ADDRESS : Buffer.alloc(0);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 | answers[answer], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(record.length === 0 ? 0 : 1, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, nameEnd + 5), record]);
}

async function serveNames(answer: Answer): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    if (answer !== "silence") socket.send(respond(query, answer), port, address);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.bind(53, "127.0.0.1", resolve);
  await promise;
}

if (import.meta.main) {
  const [answer, ...command] = process.argv.slice(2);
  if (answer !== "no server") await serveNames(answer as Answer);
  process.exit(await Bun.spawn(command, { stdio: ["ignore", "inherit", "inherit"] }).exited);
}
