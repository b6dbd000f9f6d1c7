/**
 * The long part of what is staged: appended to files of some megabytes and read once, in the same order. A file that was read to its end is
 * dropped, and what is written meanwhile takes its place on the disk and in the operating system's memory, where new pages cost most.
 */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const FILE_BYTES = 16 * 1024 * 1024;
/** What is written or read at a time. */
const BUFFER_BYTES = 256 * 1024;

/** Where a text and the bytes beside it lie: how long each is, one behind the other. */
export type Place = { file: number; start: number; textBytes: number; besideBytes: number };

export type Texts = {
  append: (text: string, beside: Uint8Array) => Place;
  /** What lies at a place, at or behind all that was read before. The bytes are good until the next. */
  read: (place: Place) => { text: string; beside: Uint8Array };
  close: () => void;
};

/** In an empty directory, which the caller removes. */
export function openTexts(directory: string): Texts {
  const pathOf = (file: number) => join(directory, `texts.${file}`);
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let [buffered, written] = [0, 0];
  let writing = { file: 0, descriptor: openSync(pathOf(0), "wx", 0o600) };
  let room = Buffer.allocUnsafe(BUFFER_BYTES);
  let reading = { file: -1, descriptor: -1, start: 0, bytes: Buffer.alloc(0) };

  function write(bytes: Uint8Array): number {
    for (let done = 0; done < bytes.length; ) done += writeSync(writing.descriptor, bytes, done);
    return bytes.length;
  }

  function flush(): void {
    write(buffer.subarray(0, buffered));
    buffered = 0;
  }

  function beginNext(): void {
    flush();
    closeSync(writing.descriptor);
    const file = writing.file + 1;
    writing = { file, descriptor: openSync(pathOf(file), "wx", 0o600) };
    written = 0;
  }

  function add(piece: string | Uint8Array): number {
    const most = typeof piece === "string" ? piece.length * 3 : piece.length;
    if (most > BUFFER_BYTES - buffered) flush();
    if (most > BUFFER_BYTES) return write(typeof piece === "string" ? Buffer.from(piece) : piece);
    if (typeof piece !== "string") buffer.set(piece, buffered);
    const bytes = typeof piece === "string" ? buffer.write(piece, buffered) : piece.length;
    buffered += bytes;
    return bytes;
  }

  function turnTo(file: number): void {
    if (reading.descriptor !== -1) closeSync(reading.descriptor);
    for (let read = Math.max(reading.file, 0); read < file; read++) rmSync(pathOf(read));
    reading = { file, descriptor: openSync(pathOf(file), "r"), start: 0, bytes: Buffer.alloc(0) };
  }

  return {
    append(text, beside) {
      if (written > FILE_BYTES) beginNext();
      const start = written;
      const textBytes = add(text);
      const besideBytes = add(beside);
      written += textBytes + besideBytes;
      return { file: writing.file, start, textBytes, besideBytes };
    },
    read({ file, start, textBytes, besideBytes }) {
      if (buffered > 0) flush();
      if (file !== reading.file) turnTo(file);
      const length = textBytes + besideBytes;
      if (start < reading.start || start + length > reading.start + reading.bytes.length) {
        if (length > room.length) room = Buffer.allocUnsafe(length);
        reading.bytes = room.subarray(0, readSync(reading.descriptor, room, 0, room.length, start));
        reading.start = start;
      }
      const from = start - reading.start;
      const text = reading.bytes.toString("utf8", from, from + textBytes);
      return { text, beside: reading.bytes.subarray(from + textBytes, from + length) };
    },
    close() {
      closeSync(writing.descriptor);
      if (reading.descriptor !== -1) closeSync(reading.descriptor);
    },
  };
}
