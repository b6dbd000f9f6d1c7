/** Spill files: long texts, appended and read once in order, each file deleted once it is read. */
import { closeSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const FILE_BYTES = 16 * 1024 * 1024;
const BUFFER_BYTES = 256 * 1024;

export type Spilled = { file: number; start: number; text_bytes: number; data_bytes: number };

export type SpillFiles = {
  append: (text: string, data: Uint8Array) => Spilled;
  /** Reads in the order of appending; some may be skipped. `data` is overwritten by the next call. */
  read: (spilled: Spilled) => { text: string; data: Uint8Array };
  /** Reads in any order, before the first `read`. */
  peek: (spilled: Spilled) => { text: string; data: Uint8Array };
  close: () => void;
};

/** Creates spill files in an empty directory, which the caller removes. */
export function openSpillFiles(directory: string): SpillFiles {
  const writer = createWriter(directory);
  let reader = { file: -1, descriptor: -1, start: 0, bytes: Buffer.alloc(0) };
  let room = Buffer.allocUnsafe(BUFFER_BYTES);

  function openNext(file: number): void {
    if (reader.descriptor !== -1) closeSync(reader.descriptor);
    for (let read = Math.max(reader.file, 0); read < file; read++) rmSync(pathOf(directory, read));
    reader = { file, descriptor: openSync(pathOf(directory, file), "r"), start: 0, bytes: Buffer.alloc(0) };
  }

  return {
    append: writer.append,
    read({ file, start, text_bytes, data_bytes }) {
      writer.flush();
      if (file !== reader.file) openNext(file);
      const length = text_bytes + data_bytes;
      if (start < reader.start || start + length > reader.start + reader.bytes.length) {
        if (length > room.length) room = Buffer.allocUnsafe(length);
        reader.bytes = room.subarray(0, readSync(reader.descriptor, room, 0, room.length, start));
        reader.start = start;
      }
      const from = start - reader.start;
      const text = reader.bytes.toString("utf8", from, from + text_bytes);
      return { text, data: reader.bytes.subarray(from + text_bytes, from + length) };
    },
    peek({ file, start, text_bytes, data_bytes }) {
      writer.flush();
      const bytes = Buffer.alloc(text_bytes + data_bytes);
      const descriptor = openSync(pathOf(directory, file), "r");
      readSync(descriptor, bytes, 0, bytes.length, start);
      closeSync(descriptor);
      return { text: bytes.toString("utf8", 0, text_bytes), data: bytes.subarray(text_bytes) };
    },
    close() {
      writer.close();
      if (reader.descriptor !== -1) closeSync(reader.descriptor);
    },
  };
}

function createWriter(directory: string) {
  const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  let buffered = 0;
  let file = 0;
  let descriptor = openSync(pathOf(directory, file), "wx", 0o600);
  let fileBytes = 0;

  function write(bytes: Uint8Array): number {
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
    return bytes.length;
  }

  function flush(): void {
    if (buffered > 0) write(buffer.subarray(0, buffered));
    buffered = 0;
  }

  function beginNext(): void {
    flush();
    closeSync(descriptor);
    descriptor = openSync(pathOf(directory, ++file), "wx", 0o600);
    fileBytes = 0;
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

  return {
    append(text: string, data: Uint8Array): Spilled {
      if (fileBytes > FILE_BYTES) beginNext();
      const start = fileBytes;
      const text_bytes = add(text);
      const data_bytes = add(data);
      fileBytes += text_bytes + data_bytes;
      return { file, start, text_bytes, data_bytes };
    },
    flush,
    close: () => closeSync(descriptor),
  };
}

function pathOf(directory: string, file: number): string {
  return join(directory, `texts.${file}`);
}
