/** "1,234 changes", "1 change"; `plural` if it does not end with "s" */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${withCommas(count)} ${count === 1 ? noun : plural}`;
}

/** "1,234" */
export function withCommas(count: number): string {
  return count.toLocaleString("en-US");
}

/** "1,234", and with one decimal below 100: "12.3" */
export function shortNumber(number: number): string {
  return number.toLocaleString("en-US", { maximumFractionDigits: number < 100 ? 1 : 0 });
}
