/** Reads secrets at the moment they are needed, from the places that watch.db names. */
import { readFileSync } from "node:fs";
import { codeOf } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";
import { unreadable } from "../runtime/read-text.ts";
import { DeliveryError } from "./delivery-error.ts";
import type { SecretPlace } from "./watch.ts";

/** The text of a secret, without white space around it. Throws a DeliveryError that names the place. */
export function readSecret(place: SecretPlace, { env }: Pick<Machine, "env">): string {
  const text = ("file" in place ? readFile(place.file) : (env[place.variable] ?? "")).trim();
  if (text === "") throw new DeliveryError(`Cannot read ${placeName(place)}: it is ${"file" in place ? "empty" : "not set"}`);
  return text;
}

/** Where a secret is, in words. */
export function placeName(place: SecretPlace): string {
  return "file" in place ? place.file : place.variable;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new DeliveryError(`Cannot read ${path}: ${unreadable[codeOf(error)] ?? "it cannot be read"}`);
  }
}
