/** A source code in upper case. Only ASCII letters change: `ß` would become `SS`, the code of another source. */
export function upperCaseCode(code: string): string {
  return code.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}
