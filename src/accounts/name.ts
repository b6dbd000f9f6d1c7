/** Names of accounts and plans, and labels of keys: any text that is not blank. */

export const NAME_LENGTH_MAX = 200;

/** The name without blanks around it. `action` begins the sentence of a refusal. */
export function readName(text: string, action: string, what = "name"): string {
  const name = text.trim();
  if (name === "") throw new Error(`${action}: its ${what} is blank`);
  if ([...name].length > NAME_LENGTH_MAX) throw new Error(`${action}: its ${what} is longer than ${NAME_LENGTH_MAX} characters`);
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) throw new Error(`${action}: its ${what} holds characters that are not text`);
  return name;
}
