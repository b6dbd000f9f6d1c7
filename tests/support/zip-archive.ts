/** Zip archives like those of Grants.gov: streamed, so that sizes and checksum follow the data (bit 3 of the flags). */
import { crc32, deflateRawSync } from "node:zlib";

const STREAMED = 0x0008;
const DEFLATED = 8;

export function zipArchive(name: string, content: Uint8Array): Buffer {
  const deflated = deflateRawSync(content);
  const nameBytes = Buffer.from(name);
  const checksumAndSizes = numbers([4, crc32(content)], [4, deflated.length], [4, content.length]);
  const common = [
    [2, 20],
    [2, STREAMED],
    [2, DEFLATED],
    [4, 0x2101_0000],
  ] as const;
  const local = Buffer.concat([numbers([4, 0x04034b50], ...common, [4, 0], [4, 0], [4, 0], [2, nameBytes.length], [2, 0]), nameBytes]);
  const descriptor = Buffer.concat([numbers([4, 0x08074b50]), checksumAndSizes]);
  const entry = Buffer.concat([
    numbers([4, 0x02014b50], [2, 20], ...common),
    checksumAndSizes,
    numbers([2, nameBytes.length], [2, 0], [2, 0], [2, 0], [2, 0], [4, 0], [4, 0]),
    nameBytes,
  ]);
  const start = local.length + deflated.length + descriptor.length;
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, 1], [2, 1], [4, entry.length], [4, start], [2, 0]);
  return Buffer.concat([local, deflated, descriptor, entry, end]);
}

/** Encodes unsigned integers in little-endian order; `size` is in bytes. */
function numbers(...fields: readonly (readonly [size: 2 | 4, value: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([size, value]) => {
      const bytes = Buffer.alloc(size);
      bytes.writeUIntLE(value, 0, size);
      return bytes;
    }),
  );
}
