/** D-30: a record is identified by (source code, lineage); its id is a UUIDv5 of the two, the same in every installation. */
import { createHash } from "node:crypto";

const NAMESPACE = Buffer.from("6f0b1a8e3c5d5e0f9a7b2d4c6e8f1a3b", "hex");

/** The service id of a record. The code is upper-cased here, so that its spelling never matters. */
export function opportunityId(source: string, lineage: string): string {
  return uuid5(`${source.toUpperCase()}\n${lineage}`);
}

/** RFC 9562 §5.5, in this program's namespace. */
export function uuid5(name: string): string {
  const bytes = createHash("sha1").update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
