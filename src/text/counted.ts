/** "1,234 changes", "1 change"; `plural` if it does not end with "s" */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${withCommas(count)} ${count === 1 ? noun : plural}`;
}

/** "1,234" */
export function withCommas(count: number): string {
  return count.toLocaleString("en-US");
}
