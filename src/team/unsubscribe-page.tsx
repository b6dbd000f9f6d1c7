/** @jsxImportSource hono/jsx */
/** The page to unsubscribe from the mails of one watch, without a sign-in. */
import { pageResponse } from "../browse/response.ts";

/** The page that asks before the mails of these watches end; without any, the page that says that they have ended. */
export function unsubscribePage(path: string, titles: readonly string[] = []): Response {
  if (titles.length === 0) {
    const body = (
      <>
        <h1>No more mails</h1>
        <p class="lead">These mails have stopped.</p>
        <p>
          What you saved is kept, and paused: <a href="/watches">My watches</a> can resume or remove it.
        </p>
      </>
    );
    return pageResponse({ title: "No more mails", body });
  }
  const body = (
    <>
      <h1>Stop these mails?</h1>
      <p class="lead">
        They come from {titles.map((title) => `“${title}”`).join(", ")}. A member can resume them at <a href="/watches">My watches</a>.
      </p>
      <form class="sign-in" method="post" action={path}>
        <input type="hidden" name="List-Unsubscribe" value="One-Click" />
        <button type="submit">Stop these mails</button>
      </form>
    </>
  );
  return pageResponse({ title: "Stop these mails?", body });
}
