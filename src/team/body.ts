/** The body of a request, read within limits of bytes and time. Its Content-Length is not trusted. */

type BodyLimits = { bytes: number; ms: number };

/** The body, or why there is none: it is too long, it did not end in time, or the client disconnected. */
export async function readBody({ body }: Request, { bytes: most, ms }: BodyLimits): Promise<Buffer | "long" | "late" | "gone"> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader();
  const late = AbortSignal.timeout(ms);
  late.addEventListener("abort", () => void reader.cancel().catch(() => undefined)); // Its reads then end.
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const piece = await reader.read().catch(() => undefined);
    if (late.aborted) return "late";
    if (piece === undefined) return "gone";
    if (piece.done) return Buffer.concat(pieces);
    bytes += piece.value.length;
    if (bytes > most) {
      void reader.cancel().catch(() => undefined);
      return "long";
    }
    pieces.push(piece.value);
  }
}
