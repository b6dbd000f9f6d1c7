/** Responses with a search for other programs: entity tags, the next page, and refusals. */
import { isNotModified } from "../http/etag.ts";
import { BadCursor } from "../search/cursor.ts";
import { addressOf, omit } from "./addresses.ts";
import type { SearchOutput } from "./outputs.ts";
import type { PageContext } from "./page.ts";
import { readSearchForm } from "./search-form.tsx";

/** An output as a response, or a problem (RFC 9457) that names every parameter that was refused. `address` is where the output is served. */
export async function outputResponse(
  request: Request,
  output: SearchOutput,
  context: PageContext & { address: string },
): Promise<Response> {
  const form = await readSearchForm(context, output.own);
  if (form.errors.size > 0) return refused(form.errors);
  const { pathname } = new URL(request.url);
  try {
    const { text, next = null } = await output.write({ ...context, form });
    const link = next === null ? {} : { Link: `<${addressOf(pathname, { ...omit(form.given, "after"), after: next })}>; rel="next"` };
    return unlessKnown(request, text, { "Content-Type": output.contentType, ...link }, next);
  } catch (error) {
    if (!(error instanceof BadCursor)) throw error;
    return refused([["after", error.message]]);
  }
}

/** The text, or 304 if the client has it. `cursor` differs each time and does not count. The tag is weak for that reason. */
export function unlessKnown(request: Request, text: string, headers: Record<string, string>, cursor: string | null = null): Response {
  const counting = cursor === null ? text : text.replace(cursor, "");
  const etag = `W/"${Bun.CryptoHasher.hash("sha256", counting, "base64url").slice(0, 22)}"`;
  const shared = { ETag: etag, "Cache-Control": "private, no-cache" };
  if (isNotModified(request.headers, { etag })) return new Response(null, { status: 304, headers: shared });
  return new Response(text, { headers: { ...shared, ...headers } });
}

export function refused(reasons: Iterable<readonly [field: string, reason: string]>): Response {
  const errors = Array.from(reasons, ([field, reason]) => ({ field, reason }));
  const detail = errors.map(({ field, reason }) => (field === "" ? reason : `${field}: ${reason}`)).join(" ");
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
  return Response.json({ title: "Invalid parameter", status: 400, detail, errors }, { status: 400, headers });
}
