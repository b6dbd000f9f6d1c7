/** The fields of addresses besides the filters, declared as filters are: each declaration reads, refuses and documents. */
import { Type } from "@sinclair/typebox";
import { sorts } from "../search/search.ts";
import { choice, type GivenValue } from "../text/value.ts";

export type OwnFields = Readonly<Record<string, GivenValue<unknown>>>;

export function listedIn(text: string): string[] {
  return text.split(",").map((each) => each.trim());
}

/** Where a list continues. Any text is accepted here; a wrong one is refused where it is used. */
export const afterField: GivenValue<string> = {
  schema: Type.String({ description: "`next_cursor` of the page before, with the same other parameters." }),
  read: (given) => `${given}`,
};

export const allSourcesField = choice(["yes"], "`yes` gives every source's record of an opportunity, not one for all.");

export const findFields = {
  sort: choice(sorts, "The order. Without it: the best matches first, with words, else the last change first."),
  after: afterField,
} satisfies OwnFields;
