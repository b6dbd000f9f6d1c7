/** The routes of `up` outside the API: their names in log and metrics, with "pages:" before them, and their cost in uses of a key. (E-170) */
import { MCP_PATH } from "./reader-process.ts";

export type Route = {
  name: string | null;
  /** Measured at 100,000 records, in multiples of the time for a page of results. */
  uses: number;
  isForPrograms: boolean;
  isOpen: boolean;
};

const page = { uses: 1, isForPrograms: false, isOpen: false };
const output = { ...page, isForPrograms: true };

const OUTPUT_USES = 5;
/** Up to 1,000 events, or 4 MiB: they are read in order, without a search. */
const EVENTS_USES = 2;

const table: readonly [pattern: RegExp, route: Route & { name: string }][] = [
  [/^\/$/, { ...page, name: "pages:/" }],
  [/^\/opportunities\/[^/]+$/, { ...page, name: "pages:/opportunities/{id}" }],
  [/^\/(?:changes|deadlines|sources|sources\/quality|sources\/months|subscribe|status|sign-in|sign-out)$/, { ...page, name: "pages:$&" }],
  [/^\/(?:find\.(?:json|csv|ics)|changes\.(?:json|csv|atom))$/, { ...output, name: "pages:$&", uses: OUTPUT_USES }],
  [/^\/find\.openapi\.json$/, { ...output, name: "pages:$&" }],
  [/^\/events\.json$/, { ...output, name: "pages:$&", uses: EVENTS_USES }],
  [/^\/feeds\/.*\.(ics|csv|atom)$/, { ...output, name: "pages:/feeds/{token}.$1", uses: OUTPUT_USES }],
  [/^\/following\.(?:ics|csv|atom)$/, { ...output, name: "pages:$&", uses: OUTPUT_USES }],
  [/^\/(?:watches(?:\/new)?|follow(?:ing)?)$/, { ...page, name: "pages:$&" }],
  [/^\/watches\/[\w-]+(\/search)?$/, { ...page, name: "pages:/watches/{name}$1" }],
  [/^\/(sign-in|unsubscribe)\/[\w.-]+$/, { ...page, name: "pages:/$1/{token}" }],
  [/^\/(style|icon|copy)-[0-9a-f]{12}\.(css|svg|js)$/, { ...page, name: "pages:/$1.$2", isOpen: true }],
  [/^\/robots\.txt$/, { ...page, name: "pages:$&", isOpen: true }],
  [/^\/mcp$/, { ...output, name: MCP_PATH }],
];

/** The route of a path; one without a name if there is none. */
export function routeOf(path: string): Route {
  for (const [pattern, route] of table) if (pattern.test(path)) return { ...route, name: path.replace(pattern, route.name) };
  return { ...page, isForPrograms: /\.(json|csv|ics|atom)$/.test(path), name: null };
}
