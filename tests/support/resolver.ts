/**
 * A name server that answers every query in one chosen way, for some commands.
 *
 * The commands get a network and a mount namespace of their own. Inside them, `bun tests/support/resolver.ts BEHAVIOR COMMANDS` is the name
 * server on loopback and runs the commands, a JSON list.
 */
import { createSocket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandResult } from "./command-line.ts";

/** Behaviors of a name server, with the RCODE (RFC 1035 §4.1.1) of its responses: errors, an address of another machine, or nothing at all. */
const responseCodes = {
  "no error": 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  "an address": 0,
  silence: 0,
  "no server": 0,
};
type Behavior = keyof typeof responseCodes;
export const nameServerBehaviors = Object.keys(responseCodes) as Behavior[];

/** Longer than the program waits for a connection to PostgreSQL. */
const TIMEOUT_SECONDS = 6;
const HEADER_BYTES = 12;
/** An A record for the name in the question: 203.0.113.9, an address reserved for documentation. */
const ADDRESS = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 9]);

const ENTER_NAMESPACES = `
  mount --bind "$0/resolv.conf" /etc/resolv.conf && mount --bind "$0/nsswitch.conf" /etc/nsswitch.conf && ip link set lo up && exec "$@"`;

/** Runs commands with such a name server, all at once. It writes the resolver's configuration to `directory`. */
export async function runWithNameServer(
  directory: string,
  behavior: Behavior,
  commands: readonly (readonly string[])[],
): Promise<CommandResult[]> {
  const child = Bun.spawn(withNameServer(directory, behavior, commands), { stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(await child.stdout.text());
}

function withNameServer(directory: string, behavior: Behavior, commands: readonly (readonly string[])[]): string[] {
  writeFileSync(join(directory, "resolv.conf"), `nameserver 127.0.0.1\noptions timeout:${TIMEOUT_SECONDS} attempts:1\n`);
  writeFileSync(join(directory, "nsswitch.conf"), "hosts: files dns\n");
  const namespaces = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-c", ENTER_NAMESPACES, directory];
  return [...namespaces, process.execPath, import.meta.path, behavior, JSON.stringify(commands)];
}

/** Returns whether this machine allows such namespaces. */
export function canReplaceResolver(directory: string): boolean {
  if (Bun.which("unshare") === null) return false;
  const { exitCode } = Bun.spawnSync(withNameServer(directory, "no server", []), { stdio: ["ignore", "ignore", "ignore"] });
  return exitCode === 0;
}

function responseTo(query: Buffer, behavior: Behavior): Buffer {
  const nameEnd = query.indexOf(0, HEADER_BYTES);
  const asksForIpv4 = query.readUInt16BE(nameEnd + 1) === 1;
  const record = behavior === "an address" && asksForIpv4 ? ADDRESS : Buffer.alloc(0);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(query.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180 | responseCodes[behavior], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(record.length === 0 ? 0 : 1, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, nameEnd + 5), record]);
}

async function startNameServer(behavior: Behavior): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    if (behavior !== "silence") socket.send(responseTo(query, behavior), port, address);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.bind(53, "127.0.0.1", resolve);
  await promise;
}

async function run(command: string[]): Promise<CommandResult> {
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

if (import.meta.main) {
  const [behavior, commands = ""] = process.argv.slice(2);
  if (behavior !== "no server") await startNameServer(behavior as Behavior);
  process.stdout.write(JSON.stringify(await Promise.all(JSON.parse(commands).map(run))));
  process.exit(0);
}
