/** D-30: a record is identified by (source code, lineage); its id is a UUIDv5 of the two, the same in every installation. */

/** Of this program, as RFC 9562 §5.5 wants one. Another would give every record another id. */
const NAMESPACE = "6f0b1a8e-3c5d-5e0f-9a7b-2d4c6e8f1a3b";

/** The service id of a record. The code is upper-cased here, so that its spelling never matters. */
export function opportunityId(source: string, lineage: string): string {
  return uuid5(`${source.toUpperCase()}\n${lineage}`);
}

/** RFC 9562 §5.5, in this program's namespace. */
export function uuid5(name: string): string {
  return Bun.randomUUIDv5(name, NAMESPACE);
}
