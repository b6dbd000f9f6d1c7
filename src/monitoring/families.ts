/** Families of metrics in Prometheus's text format, version 0.0.4. */

export type MetricSample = { suffix?: string; labels?: Readonly<Record<string, string | number>>; value: number };
export type Family = { name: string; type: "counter" | "gauge" | "histogram"; help: string; samples: readonly MetricSample[] };

function familyText({ name, type, help, samples }: Family): string {
  const lines = samples.map(({ suffix = "", labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Readonly<Record<string, string | number>>): string {
  const escaped = (value: string) => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join()}}`;
}

const familyOf = (type: Family["type"]) => (name: string, help: string, values: number | readonly MetricSample[]) =>
  ({ name, type, help, samples: typeof values === "number" ? [{ value: values }] : values }) satisfies Family;

export const [gauge, counter, histogram] = [familyOf("gauge"), familyOf("counter"), familyOf("histogram")];

/** The text of all families. */
export function familiesText(families: readonly Family[]): string {
  return families.map(familyText).join("");
}
