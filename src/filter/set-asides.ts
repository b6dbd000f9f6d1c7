/** Families of set-asides: SAM.gov has a code each for competed and sole source, and people have one name for both. */
import { closest } from "../text/closest.ts";

const families: Readonly<Record<string, readonly string[]>> = {
  SBA: ["SBA", "SBP"],
  "8A": ["8A", "8AN"],
  HUBZONE: ["HZC", "HZS"],
  HZ: ["HZC", "HZS"],
  SDVOSB: ["SDVOSBC", "SDVOSBS"],
  WOSB: ["WOSB", "WOSBSS"],
  EDWOSB: ["EDWOSB", "EDWOSBSS"],
  VSA: ["VSA", "VSS"],
};

const alone = ["LAS", "IEE", "ISBEE", "BICIV"];

const known = [...new Set([...Object.keys(families), ...Object.values(families).flat(), ...alone])];

/** The known name or code that a mistyped one probably stands for; undefined if it is known, or resembles none: it may be another source's. */
export function setAsideMeant(name: string): string | undefined {
  return known.includes(name) ? undefined : closest(name, known);
}

/** The codes that a name stands for: those of its family. Any other code stands for itself. */
export function codesOfFamily(name: string): readonly string[] {
  return families[name] ?? [name];
}
