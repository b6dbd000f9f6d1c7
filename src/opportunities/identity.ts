/** D-30: a record is identified by (source code, lineage); its id is a UUIDv5 of the two, the same in every installation. */

/** The namespace of RFC 9562 §5.5. A different one would give every record a different id. */
const NAMESPACE = "6f0b1a8e-3c5d-5e0f-9a7b-2d4c6e8f1a3b";

/** The service id of a record, a UUID in lower case. Upper-cases the source code, so that its spelling does not matter. */
export function opportunityId(source: string, lineage: string): string {
  return uuid5(`${source.toUpperCase()}\n${lineage}`);
}

/** The UUIDv5 of a name in this program's namespace. */
export function uuid5(name: string): string {
  return Bun.randomUUIDv5(name, NAMESPACE);
}
