/** Input files: plain, gzipped, zipped or standard input. They can be read several times. */
import { createHash, randomUUID } from "node:crypto";
import { closeSync, createReadStream, fstatSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { codeOf, Failure, messageOf } from "../../../db/reason.ts";
import { unreadable } from "../../runtime/read-text.ts";
import { createUtf8Decoder } from "../../text/utf8.ts";
import type { Format, Input } from "../format.ts";
import { openZipEntry } from "./zip-entry.ts";

export type OpenInput = Input & {
  /** Of the file as given, packed or not. Throws if it changed since it was opened. */
  digest: () => Promise<{ bytes: number; sha256: string }>;
  progress: () => { read: number; total: number };
  close: () => void;
};

class UnreadableInput extends Failure {
  constructor(name: string, cause: unknown) {
    super(`Cannot read ${name}: ${whyUnreadable(cause)}`);
  }
}

export class InvalidInput extends Failure {
  constructor(
    readonly file: string,
    reason: string,
  ) {
    super(`Cannot import ${file}: ${reason}`);
  }
}

const CHUNK_BYTES = 256 * 1024;
/** Largest unpacked size. Real extracts have up to 400 MB. */
const UNPACKED_BYTES_MAX = 4 * 1024 ** 3;
/** XML packs 1:8, repetitive records 1:100; more is an attack, from a harmful size on. */
const RATIO_MAX = 400;
const RATIO_CHECKED_FROM_BYTES = 64 * 1024 ** 2;

/** Opens a path, or `-` for `stdin`, which is copied to a private file. Throws an UnreadableInput. */
export async function openInput(
  name: string,
  format: Pick<Format, "entry">,
  directory: string,
  stdin: () => AsyncIterable<Uint8Array> = () => Bun.stdin.stream(),
): Promise<OpenInput> {
  return named(name, async () => {
    const descriptor = name === "-" ? await spool(stdin(), directory) : await openFile(name, directory);
    try {
      return await openUnpacked(name, descriptor, format.entry);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  });
}

async function openUnpacked(name: string, descriptor: number, entry: RegExp | undefined): Promise<OpenInput> {
  const opened = fstatSync(descriptor);
  const position = { read: 0, total: opened.size };
  const known: { sha256?: string } = {};
  const given: Given = {
    descriptor,
    onRead: (read) => {
      position.read = read;
    },
    bytes: () => (known.sha256 === undefined ? hashed(rawBytes(given), known) : rawBytes(given)),
  };
  const unpacked = await unpack(given, entry);
  return {
    name,
    bytes: () => namedBytes(name, unpacked()),
    digest: () =>
      named(name, async () => {
        if (known.sha256 === undefined) for await (const _ of given.bytes()); // Of an archive, only one entry was read.
        const { size, mtimeMs } = fstatSync(descriptor);
        const { sha256 } = known;
        if (sha256 === undefined || size !== opened.size || mtimeMs !== opened.mtimeMs) throw new Error("it changed while it was read");
        return { bytes: size, sha256 };
      }),
    progress: () => position,
    close: () => closeSync(descriptor),
  };
}

type Unpacked = () => AsyncIterable<Uint8Array>;

type Given = { descriptor: number; onRead: (bytes: number) => void; bytes: Unpacked };

/** Computes the SHA-256 while the file is read, not by another reading. */
async function* hashed(bytes: AsyncIterable<Uint8Array>, known: { sha256?: string }): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
  known.sha256 = hash.digest("hex");
}

async function unpack(given: Given, entry: RegExp | undefined): Promise<Unpacked> {
  const { descriptor, onRead } = given;
  const magic = new Uint8Array(4);
  const bytesRead = readSync(descriptor, magic, 0, magic.length, 0);
  const starts = (...bytes: number[]) => bytesRead >= bytes.length && bytes.every((byte, index) => magic[index] === byte);

  if (starts(0x1f, 0x8b)) return () => gunzipped(given.bytes());
  if (!starts(0x50, 0x4b, 0x03, 0x04) && !starts(0x50, 0x4b, 0x05, 0x06)) return given.bytes;

  const zipped = await openZipEntry(descriptor, entry);
  refuseBomb(zipped.bytes, zipped.compressedBytes);
  return () => counted(zipped.read(), onRead, fstatSync(descriptor).size / Math.max(1, zipped.bytes));
}

async function* gunzipped(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const source = Readable.from(copies(packed));
  const piped = pipeline(source, gunzip).catch((error: unknown) => gunzip.destroy(error as Error));
  let bytes = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      refuseBomb(bytes, gunzip.bytesWritten);
      yield chunk;
    }
  } finally {
    gunzip.destroy();
    source.destroy();
    await piped;
  }
}

function refuseBomb(bytes: number, packedBytes: number): void {
  if (bytes > UNPACKED_BYTES_MAX) throw new Error(`it unpacks to more than ${UNPACKED_BYTES_MAX / 1024 ** 3} GiB`);
  if (bytes > RATIO_CHECKED_FROM_BYTES && bytes > packedBytes * RATIO_MAX)
    throw new Error(`it unpacks to more than ${RATIO_MAX} times its size, as no real extract does`);
}

async function* counted(bytes: AsyncIterable<Uint8Array>, onRead: (bytes: number) => void, ratio: number): AsyncIterable<Uint8Array> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    onRead(Math.round(count * ratio));
    yield chunk;
  }
}

/** Into one buffer: the memory pages of new ones would cost more than reading. */
async function* rawBytes({ descriptor, onRead }: Given): AsyncIterable<Uint8Array> {
  const chunk = new Uint8Array(Math.min(CHUNK_BYTES, fstatSync(descriptor).size + 1));
  for (let position = 0; ; ) {
    const bytesRead = readSync(descriptor, chunk, 0, chunk.length, position); // Synchronously: another thread would cost more.
    if (bytesRead === 0) return;
    position += bytesRead;
    onRead(position);
    yield chunk.subarray(0, bytesRead);
  }
}

/** The stream may ask for the next chunk before it is done with the last. */
async function* copies(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of bytes) yield new Uint8Array(chunk);
}

/** A pipe is spooled as standard input is: it can be read only once. */
async function openFile(name: string, directory: string): Promise<number> {
  const descriptor = openSync(name, "r");
  const kind = fstatSync(descriptor);
  if (kind.isFile()) return descriptor;
  if (!kind.isDirectory()) return spool(createReadStream("", { fd: descriptor }), directory);
  closeSync(descriptor);
  throw new Error("it is a directory");
}

/** To a file without a name, of which nothing is left even after a kill. */
async function spool(bytes: AsyncIterable<Uint8Array>, directory: string): Promise<number> {
  const path = join(directory === ":memory:" ? tmpdir() : directory, `.import-${randomUUID()}`);
  const descriptor = openSync(path, "wx+", 0o600);
  rmSync(path);
  try {
    for await (const chunk of bytes) writeFileSync(descriptor, chunk);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/* Text */

/** Small: one character beyond Latin-1 doubles the memory of a string, and a substring keeps its parent. */
const PIECE_BYTES = 8 * 1024;

/** Decodes UTF-8 in pieces, which end after `mark` if possible: a tag rarely spans two. */
export async function* utf8Text(bytes: AsyncIterable<Uint8Array>, mark?: string): AsyncIterable<string> {
  const code = mark?.charCodeAt(0);
  const decode = createUtf8Decoder();
  for await (const chunk of bytes) {
    for (let start = 0, end = 0; start < chunk.length; start = end) {
      end = Math.min(start + PIECE_BYTES, chunk.length);
      const marked = code === undefined ? 0 : chunk.subarray(start, end).lastIndexOf(code) + 1;
      if (marked > 0) end = start + marked;
      yield decode(chunk.subarray(start, end));
    }
  }
  yield decode();
}

/**
 * The most characters of an element, or of a file that is read as a whole, and the most bytes of such a file that `pull` stores. Real ones have
 * some hundred thousand.
 */
export const TEXT_MAX = 16 * 1024 ** 2;

/** The pieces of a text as one. Throws if they are longer than any real file that is read as a whole. */
export async function wholeText(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length > TEXT_MAX) throw new Error(`it has more than ${TEXT_MAX} characters, as no real file has`);
  }
  return text;
}

/* Errors that name the file */

/** Names the file in errors that a format throws while reading. */
export async function* naming<T>(input: Input, items: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* items;
  } catch (error) {
    if (error instanceof UnreadableInput || error instanceof InvalidInput) throw error;
    throw new InvalidInput(input.name, messageOf(error));
  }
}

async function named<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new UnreadableInput(name, error);
  }
}

async function* namedBytes(name: string, bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    throw new UnreadableInput(name, error);
  }
}

const reasons: Record<string, string> = {
  ...unreadable,
  Z_BUF_ERROR: "the gzip file ends in the middle",
  Z_DATA_ERROR: "the gzip file is damaged",
};

function whyUnreadable(error: unknown): string {
  const code = codeOf(error);
  const reason = reasons[code] ?? messageOf(error);
  return code === "Z_DATA_ERROR" ? `${reason} (${messageOf(error)})` : reason;
}
