/** The values of changed fields as plain text, for people. */

import { amountInWords } from "../opportunities/funding.ts";
import { statusInWords } from "../opportunities/status.ts";
import { whenInWords } from "../text/date-in-words.ts";
import { plainParagraphs, plainText } from "../text/plain-text.ts";
import { attachmentInLine } from "./attachments.ts";

/** A value of an event's change, any JSON. "" where nothing is stated. */
export function valueInWords(field: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return textInWords(field, value);
  const isListOfTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (Array.isArray(value)) return value.map((item) => valueInWords(field, item)).join(isListOfTexts ? "; " : "\n");
  if (typeof value !== "object") return String(value);
  if (field === "attachments") return plainText(attachmentInLine(value));
  const members = Object.entries(value).map(([name, member]) => [name, valueInWords(`${field}.${name}`, member)] as const);
  return members
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name.replaceAll("_", " ")}: ${text}`)
    .join(", ");
}

function textInWords(field: string, text: string): string {
  if (/(^|\.)amount_(min|max)$/.test(field)) return amountInWords(text);
  if (field === "status") return statusInWords(text);
  if (field.startsWith("dates.")) return whenInWords(text);
  return /<|\n/.test(text) ? plainParagraphs(text).join("\n\n") : plainText(text);
}
