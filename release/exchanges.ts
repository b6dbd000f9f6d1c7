/** What a probe sent, and the head of each response. */
import { hideKey } from "../clients/typescript/src/hide-key.ts";
import type { Net } from "../src/pull/download.ts";
import { publicUrl } from "../src/text/request-failure.ts";

/** A request as it was sent, without keys, and the head of its response; `status` is null if there was none. */
export type Exchange = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: object | null;
  status: number | null;
  content_type: string | null;
  ms: number;
};

/** A `fetch` that adds each exchange to `exchanges`, without key and cookies, and without the query of a redirect, which may be a signature. */
export function recordingFetch(exchanges: Exchange[], key: string | undefined, now: () => number): NonNullable<Net["fetch"]> {
  let isRedirected = false;
  return async (address, request) => {
    const { method = "GET", headers: sent, body } = request;
    const url = isRedirected ? publicUrl(new URL(address)) : urlWithoutKey(address, key);
    const headers = Object.fromEntries(
      Object.entries(sent).map(([name, value]) => [name, name === "cookie" || value === key ? "…" : value]),
    );
    const startedAt = now();
    let response: Response | undefined;
    try {
      response = await fetch(address, request);
      isRedirected = response.headers.has("location");
      return response;
    } finally {
      const [status, content_type] = [response?.status ?? null, response?.headers.get("content-type") ?? null];
      exchanges.push({ method, url, headers, body: bodyOf(sent, body), status, content_type, ms: now() - startedAt });
    }
  };
}

function urlWithoutKey(address: string, key: string | undefined): string {
  const hidden = address.replace(/([?&][^=?&#]*=)([^&#]*)/g, (whole, name: string, value: string) =>
    key !== undefined && key !== "" && new URLSearchParams(`=${value}`).get("") === key ? `${name}…` : whole,
  );
  return hideKey(hidden, key);
}

function bodyOf(headers: Readonly<Record<string, string>>, body: string | undefined): object | null {
  if (body === undefined) return null;
  return headers["content-type"] === "application/json" ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
}
