/** @jsxImportSource hono/jsx */
/** Charts as inline SVG. Each has its numbers as text, too. */
import type { EventCounts } from "../events/counts.ts";
import { type Severity, severities } from "../events/event.ts";
import { withCommas } from "../text/in-words.ts";
import { FoldedTable, SeverityMark } from "./marks.tsx";

const [BAR, GAP, HEIGHT] = [6, 2, 36];

/** `names` has the label of each value; `when` precedes the label of the highest. The first `marked` bars are highlighted. */
type BarsProps = { values: readonly number[]; names: readonly string[]; title: string; marked?: number; when?: string };

export function Bars({ values, names, title, marked = values.length, when = "in the" }: BarsProps) {
  const most = Math.max(1, ...values);
  const width = values.length * (BAR + GAP) - GAP;
  const peak = values.indexOf(Math.max(...values));
  const description = values.some((value) => value > 0) ? `${title}; most ${when} ${names[peak]}: ${withCommas(values[peak] ?? 0)}` : title;
  return (
    <figure class="bars">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={description}>
        {values.map((value, n) => {
          const height = value === 0 ? 1 : Math.max(2, (HEIGHT * value) / most);
          return (
            <rect
              key={names[n]}
              x={n * (BAR + GAP)}
              y={HEIGHT - height}
              width={BAR}
              height={height}
              class={value === 0 ? "none" : n < marked ? "some" : "other"}
            >
              <title>{`${names[n]}: ${withCommas(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>{title}</figcaption>
    </figure>
  );
}

export type Bucket = { name: string; address: string; counts: EventCounts };

const stacked: readonly Severity[] = severities.toReversed();
const [STEP, BAR_SHARE, TALL] = [10, 0.8, 120];

/** Events by bucket and severity: bars, and the same numbers as a table. Severities differ in their pattern as well as in color. */
export function SeverityChart({ buckets, title }: { buckets: readonly Bucket[]; title: string }) {
  const shown = stacked.filter((severity) => buckets.some(({ counts }) => counts[severity] > 0));
  const most = Math.max(1, ...buckets.map(({ counts }) => totalOf(counts)));
  const peak = buckets.find(({ counts }) => totalOf(counts) === most);
  const description = peak === undefined ? title : `${title}. Most: ${withCommas(most)}, ${peak.name}. The table below has all numbers.`;
  const top = topOf(buckets.map(({ counts }) => totalOf(counts)));
  const cut = buckets.filter(({ counts }) => totalOf(counts) > top).length;
  return (
    <>
      <figure class="severities">
        <div class="plot">
          <span class="most" aria-hidden="true">
            {withCommas(top)}
          </span>
          <svg viewBox={`0 0 ${buckets.length * STEP} ${TALL}`} preserveAspectRatio="none" role="img" aria-label={description}>
            <Patterns />
            {buckets.map((bucket, n) => (
              <Bar key={bucket.name} bucket={bucket} x={n * STEP} scale={TALL / top} shown={shown} />
            ))}
          </svg>
        </div>
        <p class="axis" aria-hidden="true">
          <span>{buckets[0]?.name}</span>
          <span>{buckets.at(-1)?.name}</span>
        </p>
        <figcaption>
          {title}
          {cut > 0 &&
            `. ${cut === 1 ? "The bar with a gap is" : `${cut} bars with a gap are`} cut; the highest is ${withCommas(most)}, ${peak?.name}`}
          {shown.length > 0 && (
            <ul class="legend">
              {shown.map((severity) => (
                <li key={severity}>
                  <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                    <rect width="16" height="16" fill={`url(#fill-${severity})`} />
                  </svg>
                  {severity}
                </li>
              ))}
            </ul>
          )}
        </figcaption>
      </figure>
      {shown.length > 0 && (
        <FoldedTable
          summary="The numbers as a table"
          names={["When", ...shown.map((severity) => <SeverityMark severity={severity} />), "All"]}
          rows={buckets
            .filter(({ counts }) => totalOf(counts) > 0)
            .toReversed()
            .map(({ name, address, counts }) => [
              <a href={address}>{name}</a>,
              ...shown.map((severity) => withCommas(counts[severity])),
              withCommas(totalOf(counts)),
            ])}
        />
      )}
    </>
  );
}

const BARS_CUT_MIN = 5;

/** The number at the top of the chart. A bar that is much higher than most others, as on a day of a first import, would flatten them. */
function topOf(totals: readonly number[]): number {
  const filled = totals.filter((total) => total > 0).sort((left, right) => left - right);
  const [most = 1, usual = 1] = [filled.at(-1), filled[Math.floor(0.9 * (filled.length - 1))]];
  return filled.length >= BARS_CUT_MIN && most > 4 * usual ? 2 * usual : most;
}

function Bar({ bucket: { name, counts }, x, scale, shown }: { bucket: Bucket; x: number; scale: number; shown: readonly Severity[] }) {
  let top = TALL;
  return (
    <g>
      <title>{`${name}: ${shown.map((severity) => `${withCommas(counts[severity])} ${severity}`).join(", ")}`}</title>
      {shown.map((severity) => {
        const height = Math.min(top, counts[severity] * scale);
        top -= height;
        return height === 0 ? null : (
          <rect
            key={severity}
            x={x + (STEP * (1 - BAR_SHARE)) / 2}
            y={top}
            width={STEP * BAR_SHARE}
            height={height}
            fill={`url(#fill-${severity})`}
          />
        );
      })}
      {totalOf(counts) * scale > TALL && <path class="gap" d={`M${x} 14 ${x + STEP} 8v6l-${STEP} 6z`} />}
      {totalOf(counts) === 0 && <rect class="none" x={x} y={TALL - 1} width={STEP} height="1" />}
    </g>
  );
}

const lines: Readonly<Record<Severity, string>> = {
  critical: "",
  material: "M0 0H4V2H0z",
  informational: "M0 0H4V1H0z",
  cosmetic: "M0 0H2V2H0z",
  noise: "M0 0H1V1H0z",
  unknown: "M0 0H1V4H0z",
};

function Patterns() {
  return (
    <defs>
      {severities.map((severity) => (
        <pattern key={severity} id={`fill-${severity}`} width="4" height="4" patternUnits="userSpaceOnUse">
          <rect width="4" height="4" class={`backdrop ${severity}`} />
          <path d={lines[severity]} class={`hatching ${severity}`} />
        </pattern>
      ))}
    </defs>
  );
}

export function totalOf(counts: EventCounts): number {
  return severities.reduce((sum, severity) => sum + counts[severity], 0);
}
