/** The lines of a stream of UTF-8. */

const LINE_BYTES_MAX = 16 * 1024 * 1024;
const SHOWN_BYTES = 1000;

/** A line without its end, counted from 1. With a `fault`, `text` is only what can be shown of it. */
export type Line = { line: number; text: string; fault?: string };

/** The lines of a UTF-8 file, ending with LF or CR LF, in bounded memory. Byte-order marks are dropped. Longer lines have a fault. */
export async function* lines(bytes: AsyncIterable<Uint8Array>, bytesMax = LINE_BYTES_MAX): AsyncIterable<Line> {
  let line = 1;
  let pieces: Uint8Array[] = [];
  let length = 0;
  const add = (piece: Uint8Array) => {
    if (piece.length > 0 && length <= bytesMax) pieces.push(piece);
    length += piece.length;
  };
  const take = (): Line => {
    const taken = decodeLine(line++, pieces, length, bytesMax);
    pieces = [];
    length = 0;
    return taken;
  };
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    add(new Uint8Array(chunk.subarray(start))); // A copy, because the next chunk may overwrite it.
  }
  if (length > 0) yield take();
}

const strict = new TextDecoder("utf-8", { fatal: true });
const lenient = new TextDecoder("utf-8");

function decodeLine(line: number, pieces: readonly Uint8Array[], length: number, bytesMax: number): Line {
  const [first = new Uint8Array()] = pieces;
  const bytes = pieces.length > 1 ? Buffer.concat(pieces) : first;
  if (length > bytesMax)
    return { line, text: lenient.decode(bytes.subarray(0, SHOWN_BYTES)), fault: `the line has more than ${bytesMax} bytes` };
  const end = bytes.at(-1) === 13 ? bytes.length - 1 : bytes.length;
  try {
    return { line, text: strict.decode(bytes.subarray(0, end)) };
  } catch {
    return { line, text: lenient.decode(bytes.subarray(0, end)), fault: "the line is not UTF-8" };
  }
}
