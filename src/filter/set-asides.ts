/** Families of set-asides: competed and sole source, partial and total, have a code each at SAM.gov and one name for people. (E-58) */

/** The codes of SAM.gov by the name of the family, which may be one of them. */
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

/** The codes that a name stands for: those of its family. Any other code stands for itself. */
export function codesOfFamily(name: string): readonly string[] {
  return families[name] ?? [name];
}
