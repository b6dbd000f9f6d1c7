/** Parts of the schemas of resources and results. */
import { type TProperties, type TSchema, Type } from "@sinclair/typebox";

const described = (description?: string) => (description === undefined ? {} : { description });

/** An object without further properties. */
export const object = <T extends TProperties>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...described(description) });

export const nullable = <T extends TSchema>(schema: T, description?: string) => Type.Union([schema, Type.Null()], described(description));
