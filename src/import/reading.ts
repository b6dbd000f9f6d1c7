/**
 * What a record was read from. Where that is what it was read from before, nothing can have changed (D-32), and neither mapping nor judging
 * need be done again.
 */
import { hash } from "node:crypto";
import { ownSource } from "../own-source.ts" with { type: "macro" };

/** Another program reads everything again, once. */
const program = ownSource();

/** In which most texts are hashed: one string of rules and text would be made and thrown away for each. */
const ROOM_BYTES = 64 * 1024;

/** SHA-256 of a record's text and of all else that it follows from: this program, and what the operator has set. */
export function readingUnder(settings: unknown): (text: string) => Buffer {
  const rules = hash("sha256", JSON.stringify([program, settings]), "base64");
  const room = Buffer.allocUnsafe(ROOM_BYTES);
  const begun = room.write(rules);
  return (text) =>
    text.length * 3 > ROOM_BYTES - begun
      ? hash("sha256", rules + text, "buffer")
      : hash("sha256", room.subarray(0, begun + room.write(text, begun)), "buffer");
}
