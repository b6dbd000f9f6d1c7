/** How two JSON Schemas of the same output differ, for those who read it. */
import { arrayOf, isObject, type JsonObject, objectOf } from "../../src/text/json-value.ts";

/** Breaking changes and additions, each with the path of what has changed. Both are empty if readers cannot tell the schemas apart. */
export type SchemaChanges = { breaking: string[]; additions: string[] };

/** A change is breaking if what was valid no longer is, or if a reader gets what it could not expect: another type, or a member less. */
export function schemaChanges(before: unknown, after: unknown): SchemaChanges {
  const changes: SchemaChanges = { breaking: [], additions: [] };
  compare(objectOf(before), objectOf(after), "", changes);
  return changes;
}

const RULES = ["format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"];

function compare(before: JsonObject, after: JsonObject, path: string, changes: SchemaChanges): void {
  const [old, present] = [formsOf(before), formsOf(after)];
  for (const [form, schema] of old) {
    const now = present.get(form);
    if (now === undefined) changes.breaking.push(`${at(path)} can no longer be ${form}`);
    else compareForm(schema, now, path, changes);
  }
  const types = new Set([...old.values()].map(({ type }) => type));
  for (const [form, { type }] of present) {
    if (old.has(form)) continue;
    const list = types.has(type) ? changes.additions : changes.breaking;
    list.push(`${at(path)} can now be ${form}`);
  }
}

function compareForm(before: JsonObject, after: JsonObject, path: string, changes: SchemaChanges): void {
  for (const rule of RULES)
    if (before[rule] !== after[rule])
      changes.breaking.push(`${at(path)}: ${rule} was ${before[rule] ?? "absent"} and is ${after[rule] ?? "absent"}`);
  const [old, present] = [objectOf(before.properties), objectOf(after.properties)];
  const [required, nowRequired] = [arrayOf(before.required), arrayOf(after.required)];
  for (const [name, schema] of Object.entries(old)) {
    const inner = path === "" ? name : `${path}.${name}`;
    if (!(name in present)) {
      changes.breaking.push(`${inner} is gone`);
      continue;
    }
    if (!required.includes(name) && nowRequired.includes(name)) changes.breaking.push(`${inner} is now required`);
    if (required.includes(name) && !nowRequired.includes(name)) changes.breaking.push(`${inner} is no longer always there`);
    compare(objectOf(schema), objectOf(present[name]), inner, changes);
  }
  for (const name of Object.keys(present)) if (!(name in old)) changes.additions.push(`${path === "" ? name : `${path}.${name}`} is new`);
  if (isObject(before.items) || isObject(after.items)) compare(objectOf(before.items), objectOf(after.items), `${path}[]`, changes);
}

/** The forms that a value can have, by type, and by the constants that tell forms of one type apart. */
function formsOf(schema: JsonObject): Map<string, JsonObject> {
  const forms = Array.isArray(schema.anyOf) ? schema.anyOf.map(objectOf) : [schema];
  return new Map(forms.map((form) => [nameOf(form), form]));
}

function nameOf(form: JsonObject): string {
  if ("const" in form) return JSON.stringify(form.const);
  const constants = Object.entries(objectOf(form.properties)).filter(([, property]) => "const" in objectOf(property));
  const named = constants
    .filter(([name]) => arrayOf(form.required).includes(name))
    .map(([name, property]) => `${name} ${JSON.stringify(objectOf(property).const)}`);
  return [form.type ?? "anything", ...named].join(" with ");
}

function at(path: string): string {
  return path === "" ? "the whole" : path;
}
