/** What an opportunity pays, in words. Every door says it so. */

import { compareDecimals, isDecimal, numbersIn } from "../text/decimal.ts";
import { plainText } from "../text/plain-text.ts";
import { ellipsized } from "../text/quoted.ts";

const MONEY_MAX = 159;

/** "$1,500,000" */
export function amountInWords(decimal: string): string {
  const [, sign = "", whole = decimal, cents = ""] = /^(-?)(\d+)((?:\.\d+)?)$/.exec(decimal) ?? [];
  return `${sign}$${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${/^\.0*$/.test(cents) ? "" : cents}`;
}

/** "$1.5M" */
export function amountInShort(dollars: number | bigint): string {
  return compact.format(dollars);
}

const compact = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", notation: "compact", maximumFractionDigits: 1 });

/** "up to $20,000 per award; $1,000,000 total": amounts, then what the text says besides. Undefined if nothing is stated. */
export function fundingInWords({ display, amount_min, amount_max }: Record<string, unknown>): string | undefined {
  const amounts = [amount_min, amount_max].filter(isAmount);
  const others = moneyPartsOf(display).filter((part) => amounts.length === 0 || !repeatsAmounts(part, amounts));
  const parts = [...(amounts.length === 0 ? [] : [rangeInWords(amount_min, amount_max)]), ...others];
  return parts.length === 0 ? undefined : cutMoney(parts);
}

/** The amounts alone, or else the text, for lists. */
export function awardsInWords(funding: Record<string, unknown> | null): string | undefined {
  const { amount_min, amount_max, display } = funding ?? {};
  if (![amount_min, amount_max].some(isAmount)) return fundingInWords({ display });
  return rangeInWords(amount_min, amount_max);
}

function rangeInWords(amount_min: unknown, amount_max: unknown): string {
  const [least, most] = [amount_min, amount_max].map((each) => (isAmount(each) ? amountInWords(each) : undefined));
  if (least === undefined) return `up to ${most} per award`;
  if (most === undefined) return `at least ${least} per award`;
  return least === most ? least : `${least} to ${most}`;
}

export function isAmount(value: unknown): value is string {
  return typeof value === "string" && isDecimal(value);
}

/** What a text about money says, part by part: Grants.gov has "$500,000 total; 3 awards expected". */
export function moneyPartsOf(display: unknown): string[] {
  return typeof display === "string" && display !== "" ? plainText(display).split("; ") : [];
}

const AMOUNT_WORDS = /\b(?:up to|at least|at most|from|to|and|total|usd)\b/gi;

/** Whether a text says nothing but these amounts, or the amount of an award, which is one of them: "Up to $500,000 per award". */
export function repeatsAmounts(part: string, amounts: readonly string[]): boolean {
  if (part.endsWith(" per award")) return true;
  if (/\p{L}/u.test(part.replace(AMOUNT_WORDS, ""))) return false;
  const numbers = numbersIn(part);
  return numbers.length > 0 && numbers.every((number) => amounts.some((amount) => compareDecimals(number, amount) === 0));
}

/** The parts as one text, cut to the length of a line. */
export function cutMoney(parts: readonly string[]): string {
  return ellipsized(parts.join("; "), MONEY_MAX);
}
