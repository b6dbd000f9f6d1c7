/** Reports of benchmarks, as Markdown. */

/** One measured value, compared with its goal. */
export type Goal = { what: string; measured: string; goal: string; met: boolean };

export type Section = { title: string; text: string; goals: Goal[] };

/** Returns a Markdown table with the first row's names as its head. Columns of numbers are aligned to the right. */
export function table(rows: readonly Record<string, string | number>[]): string {
  const names = Object.keys(rows[0] ?? {});
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = names.map((name) => (rows.every((row) => /^[\d~–-]/.test(String(row[name] ?? ""))) ? "--:" : "---"));
  return [line(names), line(rule), ...rows.map((row) => line(names.map((name) => cellText(row[name] ?? ""))))].join("\n");
}

export function goalsTable(goals: readonly Goal[]): string {
  return table(goals.map(({ what, measured, goal, met }) => ({ What: what, Measured: measured, Goal: goal, Met: met ? "yes" : "**no**" })));
}

export function atMost(what: string, value: number, limit: number, unit = ""): Goal {
  return { what, measured: `${round(value)}${unit}`, goal: `≤ ${round(limit)}${unit}`, met: value <= limit };
}

export function atLeast(what: string, value: number, limit: number, unit = ""): Goal {
  return { what, measured: `${round(value)}${unit}`, goal: `≥ ${round(limit)}${unit}`, met: value >= limit };
}

/** Formats a number: two digits after the point below 10, one below 100, none above. */
export function round(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value below which the given share of the values lies; a share of 1 gives the largest. `NaN` without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function megabytes(bytes: number): number {
  return bytes / 1_000_000;
}

/** Formats a whole number with commas: 1,000,000. */
export function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs one benchmark and prints its section, for `bun bench/load.ts` and the like. */
export async function printAlone(benchmark: () => Promise<Section>): Promise<void> {
  print(sectionText(await benchmark()));
}

export function sectionText({ title, text, goals }: Section): string {
  return [`## ${title}`, text, ...(goals.length === 0 ? [] : [goalsTable(goals)])].join("\n\n");
}

function cellText(cell: string | number): string {
  return typeof cell === "number" ? round(cell) : cell;
}
