import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, truncateSync, writeFileSync } from "node:fs";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { openInput } from "../../../src/import/readers/input.ts";
import { aDirectory, dropScratch, inScratch } from "../../support/imports.ts";
import { bytesOf } from "../../support/read-format.ts";

afterAll(dropScratch);

const TEXT = "<Grants>some text, some text</Grants>\n".repeat(2000);
/** More than is read at a time, packed too. */
const LONG = Array.from({ length: 60_000 }, (_, n) => (n * n * 7919) % 1_000_003).join("\n");

type Packed = { name: string; text?: string | Buffer; crc?: number; size?: number; flags?: number; count?: number };

/** A zip archive as the rules want it, but for what the test asks for. */
function zip(...files: Packed[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, text = TEXT, crc = crc32(text), size = Buffer.byteLength(text), flags = 0 } of files) {
    const data = deflateRawSync(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc, 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), common, tail, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  const count = files[0]?.count ?? files.length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from("PK\x05\x06"), end]);
}

function aFile(name: string, content: string | Uint8Array): string {
  const path = inScratch(name);
  writeFileSync(path, content);
  return path;
}

async function readAll(path: string, entry?: RegExp): Promise<string> {
  const input = await openInput(path, entry === undefined ? {} : { entry }, aDirectory());
  try {
    return String(await bytesOf(input));
  } finally {
    input.close();
  }
}

describe("openInput()", () => {
  const packed = gzipSync(TEXT);

  test.each([
    ["plain.xml", TEXT, TEXT],
    ["empty.xml", "", ""],
    ["long.txt", LONG.repeat(5), LONG.repeat(5)],
    ["long.gz", gzipSync(LONG.repeat(5)), LONG.repeat(5)],
    ["long.zip", zip({ name: "long.xml", text: LONG.repeat(5) }), LONG.repeat(5)],
    ["named-wrongly.xml", packed, TEXT],
    ["several-members.gz", Buffer.concat([packed, packed]), TEXT + TEXT],
    ["one.zip", zip({ name: "a/b.xml" }), TEXT],
    [
      "with-a-readme.zip",
      zip({ name: "readme.txt", text: "x" }, { name: "b.XML" }, { name: "c/", text: "" }, { name: "__MACOSX/b.xml" }),
      TEXT,
    ],
  ])("reads %s by its content, several times", async (name, content, text) => {
    const input = await openInput(aFile(name, content), { entry: /\.xml$/i }, aDirectory());
    for (let time = 0; time < 2; time++) expect(String(await bytesOf(input)) === text).toBe(true);
    const bytes = Buffer.byteLength(content);
    expect(input.progress()).toEqual({ read: bytes, total: bytes });
    expect(await input.digest()).toEqual({ bytes, sha256: new Bun.CryptoHasher("sha256").update(content).digest("hex") });
    input.close();
  });

  test.each([
    ["halfway.gz", gzipSync(LONG.repeat(5))],
    ["halfway.txt", Buffer.from(LONG.repeat(5))],
    ["halfway.zip", zip({ name: "halfway.xml", text: LONG.repeat(5) })],
  ])("after %s was read in part, the next reading and the digest are complete", async (name, content) => {
    const input = await openInput(aFile(name, content), {}, aDirectory());
    const digest = { bytes: content.length, sha256: new Bun.CryptoHasher("sha256").update(content).digest("hex") };
    for await (const chunk of input.bytes()) if (chunk.length > 0) break;
    expect(await input.digest()).toEqual(digest);
    for await (const chunk of input.bytes()) if (chunk.length > 0) break;
    expect((await bytesOf(input)).length).toBe(LONG.length * 5);
    expect(await input.digest()).toEqual(digest);
    input.close();
  });

  test("standard input is read twice, from a file that has no name", async () => {
    const directory = aDirectory();
    const stdin = async function* () {
      yield packed.subarray(0, 10);
      yield packed.subarray(10);
    };
    const input = await openInput("-", {}, directory, stdin);
    expect(readdirSync(directory)).toEqual([]);
    for (let time = 0; time < 2; time++) expect(String(await bytesOf(input)) === TEXT).toBe(true);
    input.close();
  });

  const damaged = Buffer.from(packed);
  damaged[damaged.length - 6] = (damaged[damaged.length - 6] ?? 0) ^ 1;
  const zeros = Buffer.alloc(80 * 1024 * 1024);
  const whole = zip({ name: "b.xml" });

  test.each([
    ["cut.gz", packed.subarray(0, -9), "the gzip file ends in the middle"],
    ["damaged.gz", damaged, "the gzip file is damaged (incorrect data check)"],
    ["trailing.gz", Buffer.concat([packed, Buffer.from("garbage")]), "the gzip file is damaged (incorrect header check)"],
    ["bomb.gz", gzipSync(zeros), "it unpacks to more than 400 times its size, as no real extract does"],
    ["bomb.zip", zip({ name: "b.xml", text: zeros }), "it unpacks to more than 400 times its size, as no real extract does"],
    ["huge.zip", zip({ name: "b.xml", size: 0xfffffffe }), "it unpacks to more than 400 times its size, as no real extract does"],
    [
      "cut.zip",
      whole.subarray(0, -30),
      "End of central directory record signature not found. Either not a zip file, or file is truncated.",
    ],
    [
      "checksum.zip",
      zip({ name: "b.xml", crc: 0x1234abcd }),
      `entry b.xml is damaged (CRC ${crc32(TEXT).toString(16).padStart(8, "0")}, expected 1234abcd)`,
    ],
    ["longer.zip", zip({ name: "b.xml", size: 100 }), "too many bytes in the stream. expected 100. got at least"],
    ["shorter.zip", zip({ name: "b.xml", size: 100_000 }), "not enough bytes in the stream. expected 100000. got only"],
    ["traversal.zip", zip({ name: "../../b.xml" }), "invalid relative path: ../../b.xml"],
    ["absolute.zip", zip({ name: "/etc/b.xml" }), "absolute path: /etc/b.xml"],
    ["backslash.zip", zip({ name: "..\\b.xml" }), "invalid characters in fileName: ..\\b.xml"],
    ["secret.zip", zip({ name: "b.xml", flags: 1 }), "entry b.xml is encrypted"],
    ["crowded.zip", zip({ name: "b.xml", count: 5000 }), "it has 5000 entries, more than 1000"],
    ["two.zip", zip({ name: "a.xml" }, { name: "b.xml" }), "it holds 2 files that could be meant: a.xml, b.xml"],
    ["other.zip", zip({ name: "a.txt" }), "it holds no entry like /\\.xml$/i"],
    ["nothing.zip", zip(), "it holds no file"],
  ])("refuses %s by name", async (name, content, fault) => {
    const path = aFile(name, content);
    await expect(readAll(path, /\.xml$/i)).rejects.toThrow(`Cannot read ${path}: ${fault}`);
  });

  test("refuses missing files and directories", async () => {
    await expect(readAll(inScratch("missing"))).rejects.toThrow(`Cannot read ${inScratch("missing")}: there is no such file`);
    const directory = aDirectory();
    await expect(readAll(directory)).rejects.toThrow(`Cannot read ${directory}: it is a directory`);
  });

  test("a file that changes while it is read is refused at the end", async () => {
    const path = aFile("changing.xml", TEXT);
    const input = await openInput(path, {}, aDirectory());
    truncateSync(path, 100);
    await expect(input.digest()).rejects.toThrow(`Cannot read ${path}: it changed while it was read`);
    input.close();
  });
});
