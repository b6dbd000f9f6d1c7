/** @jsxImportSource hono/jsx */
/** Charts as inline SVG. Each has its numbers as text, too. */

const [BAR, GAP, HEIGHT] = [6, 2, 36];

/** A small bar chart. `names` are what each value is of. */
export function Bars({ values, names, title }: { values: readonly number[]; names: readonly string[]; title: string }) {
  const most = Math.max(1, ...values);
  const width = values.length * (BAR + GAP) - GAP;
  const peak = values.indexOf(Math.max(...values));
  const description =
    most > 1 || values.includes(1) ? `${title}; most in the ${names[peak]}: ${values[peak]?.toLocaleString("en-US")}` : title;
  return (
    <figure class="bars">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={description}>
        {values.map((value, n) => {
          const height = value === 0 ? 1 : Math.max(2, (HEIGHT * value) / most);
          return (
            <rect key={names[n]} x={n * (BAR + GAP)} y={HEIGHT - height} width={BAR} height={height} class={value === 0 ? "none" : "some"}>
              <title>{`${names[n]}: ${value.toLocaleString("en-US")}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>{title}</figcaption>
    </figure>
  );
}
