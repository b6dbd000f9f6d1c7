/** A source code in upper case. Only ASCII letters change: `ß` would become `SS`, the code of another source. */
export function upperCaseCode(code: string): string {
  return code.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** A source code, as a regular expression. Stands apart from the schema that has it, so that the program can start without TypeBox. */
export const SOURCE_CODE = "^[A-Z0-9][A-Z0-9_.-]{0,63}$";
