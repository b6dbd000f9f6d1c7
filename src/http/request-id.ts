/** Request ids are made here, never taken from the client (D-19). */

const ID_BYTES = 16;
/** Ids made from one call of `randomBytes`. */
const POOLED = 256;

/** Each call returns another id: 128 random bits in hexadecimal. */
export function createRequestIds(randomBytes: (count: number) => Uint8Array): () => string {
  let pool = Buffer.alloc(0);
  let next = 0;
  return () => {
    if (next === pool.length) {
      pool = Buffer.from(randomBytes(ID_BYTES * POOLED));
      next = 0;
    }
    next += ID_BYTES;
    return pool.toString("hex", next - ID_BYTES, next);
  };
}
