/** Names of accounts and plans, and labels of keys: any text that is not blank. */
import { Failure } from "../../db/reason.ts";

const NAME_LENGTH_MAX = 200;

/** The name without surrounding blanks. Throws if it is blank, too long or not text; the message begins with `action`. */
export function readName(text: string, action: string, what = "name"): string {
  const name = text.trim();
  if (name === "") throw new Failure(`${action}: its ${what} is blank`);
  if ([...name].length > NAME_LENGTH_MAX) throw new Failure(`${action}: its ${what} is longer than ${NAME_LENGTH_MAX} characters`);
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    throw new Failure(`${action}: its ${what} contains control characters or invalid Unicode`);
  return name;
}
