/** @jsxImportSource hono/jsx */
/** The page for a person whose request is refused: why, and what to do next. */
import { pageResponse } from "../browse/response.ts";
import type { Refused } from "./admission.ts";

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  413: "Too much",
  429: "Too many requests",
  502: "This did not work",
  503: "Not now",
};

export function refusalPage({ status, message, headers }: Refused, isMember: boolean): Response {
  const title = TITLES[status] ?? "This cannot be done";
  const body = (
    <>
      <h1>{title}</h1>
      <p class="lead">{message}</p>
      <p>
        What you typed is kept by your browser: go back, and try again. Or go on with <a href="/">Find</a>
        {isMember && (
          <>
            {" or "}
            <a href="/watches">My watches</a>
          </>
        )}
        .
      </p>
    </>
  );
  const response = pageResponse({ title, status, body }, isMember ? { hasSignIn: true, isMember } : undefined);
  for (const [name, value] of Object.entries({ "Cache-Control": "no-store", ...headers })) response.headers.set(name, value);
  return response;
}
