/** What a benchmark found, as Markdown. */

/** One promise and what became of it. */
export type Bar = { what: string; measured: string; bar: string; met: boolean };

export type Section = { title: string; text: string; bars: Bar[] };

/** A Markdown table; numbers to the right. */
export function table(rows: readonly Record<string, string | number>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = names.map((name) => (rows.every((row) => /^[\d~–-]/.test(String(row[name] ?? ""))) ? "--:" : "---"));
  return [line(names), line(rule), ...rows.map((row) => line(names.map((name) => shown(row[name] ?? ""))))].join("\n");
}

export function barsTable(bars: readonly Bar[]): string {
  return table(bars.map(({ what, measured, bar, met }) => ({ What: what, Measured: measured, Bar: bar, Met: met ? "met" : "**missed**" })));
}

/** "at most 5 ms" and the like, judged. */
export function atMost(what: string, value: number, most: number, unit = ""): Bar {
  return { what, measured: `${round(value)}${unit}`, bar: `≤ ${round(most)}${unit}`, met: value <= most };
}

export function atLeast(what: string, value: number, least: number, unit = ""): Bar {
  return { what, measured: `${round(value)}${unit}`, bar: `≥ ${round(least)}${unit}`, met: value >= least };
}

/** Two digits after the point below 10, one below 100, none above. */
export function round(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a share of the values lies; 1 is the worst. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const megabytes = (bytes: number) => bytes / 1_000_000;

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** So that a benchmark can be run alone: `bun bench/load.ts`. */
export async function printAlone(benchmark: () => Promise<Section>): Promise<void> {
  print(shownSection(await benchmark()));
}

export function shownSection({ title, text, bars }: Section): string {
  return [`## ${title}`, text, ...(bars.length === 0 ? [] : [barsTable(bars)])].join("\n\n");
}

function shown(cell: string | number): string {
  return typeof cell === "number" ? round(cell) : cell;
}
