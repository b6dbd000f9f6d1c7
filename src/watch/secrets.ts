/** Reads secrets at the moment they are needed, from the places that watch.db names. */
import type { Machine } from "../runtime/machine.ts";
import { readText } from "../runtime/read-text.ts";
import { DeliveryError } from "./attempts.ts";
import type { SecretPlace } from "./watch.ts";

/** The text of a secret, without white space around it. Throws a Failure that names the place. */
export function readSecret(place: SecretPlace, { env }: Pick<Machine, "env">): string {
  const text = ("file" in place ? readText(place.file) : (env[place.variable] ?? "")).trim();
  if (text === "") throw new DeliveryError(`Cannot read ${placeName(place)}: it is ${"file" in place ? "empty" : "not set"}`);
  return text;
}

/** Where a secret is, in words. */
export function placeName(place: SecretPlace): string {
  return "file" in place ? place.file : place.variable;
}
