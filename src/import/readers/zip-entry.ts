/** The entry of a zip archive to import, verified. */
import { crc32 } from "node:zlib";
import { type Entry, fromFdPromise, type ZipFile } from "yauzl";

const ENTRIES_MAX = 1000;

type ZipEntry = { bytes: number; compressedBytes: number; read: () => AsyncIterable<Uint8Array> };

/** Opens the entry that `wanted` matches, or the only one. Throws if there is none or several. */
export async function openZipEntry(descriptor: number, wanted: RegExp | undefined): Promise<ZipEntry> {
  const zip = await fromFdPromise(descriptor, { lazyEntries: true, autoClose: false, strictFileNames: true });
  const entry = await chooseEntry(zip, wanted);
  return { bytes: entry.uncompressedSize, compressedBytes: entry.compressedSize, read: () => readChecked(zip, entry) };
}

async function chooseEntry(zip: ZipFile, wanted: RegExp | undefined): Promise<Entry> {
  if (zip.entryCount > ENTRIES_MAX) throw new Error(`it has ${zip.entryCount} entries, more than ${ENTRIES_MAX}`);
  const files: Entry[] = [];
  for await (const entry of zip.eachEntry()) if (!/\/$|^__MACOSX\//.test(entry.fileName)) files.push(entry);
  const matching = wanted === undefined ? files : files.filter(({ fileName }) => wanted.test(fileName));
  const [entry, another] = matching;
  if (entry === undefined) throw new Error(files.length === 0 ? "it holds no file" : `it holds no entry like ${wanted}`);
  if (another !== undefined)
    throw new Error(`it holds ${matching.length} files that could be meant: ${entry.fileName}, ${another.fileName}`);
  if (entry.isEncrypted()) throw new Error(`entry ${entry.fileName} is encrypted`);
  return entry;
}

async function* readChecked(zip: ZipFile, entry: Entry): AsyncIterable<Uint8Array> {
  let checksum = 0;
  const stream = await zip.openReadStreamPromise(entry);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } finally {
    stream.destroy();
  }
  if (checksum !== entry.crc32) throw new Error(`entry ${entry.fileName} is damaged (CRC ${hex(checksum)}, expected ${hex(entry.crc32)})`);
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}
