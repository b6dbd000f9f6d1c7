/** "1,234 changes", "1 change"; `plural` if it does not end with "s" */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${withCommas(count)} ${count === 1 ? noun : plural}`;
}

export function withCommas(count: number): string {
  return count.toLocaleString("en-US");
}

export function shortNumber(number: number): string {
  return number.toLocaleString("en-US", { maximumFractionDigits: number < 100 ? 1 : 0 });
}
