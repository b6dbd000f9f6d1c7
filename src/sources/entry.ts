/** The source resource. */
import { type Static, Type } from "@sinclair/typebox";
import { object } from "../text/schema.ts";
import { SOURCE_CODE } from "../text/source-code.ts";

/** A named source as the API returns it. */
export const SourceEntry = object({
  code: Type.String({
    pattern: SOURCE_CODE,
    description: "Source code, as in an opportunity's `source.code` and the `source` filter.",
  }),
  name: Type.String({ description: "Display name." }),
  description: Type.String({ description: "What the source publishes." }),
});

export type SourceEntry = Static<typeof SourceEntry>;
