/** @jsxImportSource hono/jsx */
/** The page to unsubscribe from the mails of one watch, without a sign-in. */
import { PostForm } from "../browse/watch-fields.tsx";
import { formPage } from "./form-response.tsx";

const STOPPED = (
  <>
    <p class="lead">These mails have stopped.</p>
    <p>
      What you saved is kept, and paused: <a href="/watches">My watches</a> can resume or remove it.
    </p>
  </>
);

/** The page that asks before the mails of these watches end; without any, the page that says that they have ended. */
export function unsubscribePage(path: string, titles: readonly string[] = []): Response {
  if (titles.length === 0) return formPage("No more mails", STOPPED);
  const content = (
    <>
      <p class="lead">
        They come from {titles.map((title) => `“${title}”`).join(", ")}. A member can resume them at <a href="/watches">My watches</a>.
      </p>
      <PostForm to={path} values={{ "List-Unsubscribe": "One-Click" }} submit="Stop these mails" />
    </>
  );
  return formPage("Stop these mails?", content);
}
