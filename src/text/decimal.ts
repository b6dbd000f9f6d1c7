/** Compares plain decimals (D-36) exactly, as text: no amount becomes a float. */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

type Decimal = { negative: boolean; whole: string; fraction: string };

/** Whether a text is a plain decimal of at most 100 characters. */
export function isDecimal(text: string): boolean {
  return text.length <= 100 && DECIMAL.test(text);
}

/** Negative if `left` is smaller, positive if it is larger, 0 if they are equal: "1.50" equals "1.5". */
export function compareDecimals(left: string, right: string): number {
  const [a, b] = [parse(left), parse(right)];
  const places = Math.max(a.fraction.length, b.fraction.length);
  const scaled = ({ negative, whole, fraction }: Decimal) => BigInt(`${whole}${fraction.padEnd(places, "0")}`) * (negative ? -1n : 1n);
  const difference = scaled(a) - scaled(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const NUMBER = /\d+(?:,\d{3})*(?:\.\d+)?/g;

/** The plain decimals that a text names: 1000 and 5 in "$1,000 for 5 awards". */
export function numbersIn(text: string): string[] {
  return (text.match(NUMBER) ?? []).map((number) => number.replaceAll(",", ""));
}

export function withoutNumbers(text: string): string {
  return text.replace(NUMBER, "#");
}

/** A text that sorts, byte by byte, as the decimal does among decimals: sign, number of whole digits, digits. */
export function decimalKey(text: string): string {
  const { negative, whole, fraction } = parse(text);
  const key = `${String(whole.length).padStart(3, "0")}${whole}${fraction}`;
  // For a negative number, each digit is replaced by 9 minus itself. "~" sorts after all digits, so that a longer fraction sorts first.
  return negative ? `-${key.replace(/\d/g, (digit) => String(9 - Number(digit)))}~` : `0${key}`;
}

/** The whole part of the decimal that a key was made of; 0 if it is negative. */
export function wholeOfKey(key: string): bigint {
  return key.startsWith("-") ? 0n : BigInt(key.slice(4, 4 + Number(key.slice(1, 4))));
}

function parse(text: string): Decimal {
  const [, sign = "", digits = "0", places = ""] = DECIMAL.exec(text) ?? [];
  const whole = digits.replace(/^0+(?=\d)/, "");
  const fraction = places.replace(/(?<!0)0+$/, "");
  return { negative: sign === "-" && (whole !== "0" || fraction !== ""), whole, fraction };
}
