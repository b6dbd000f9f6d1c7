/** Of which part of an agency an office is, by words in its name: "W071 ENDIST KANSAS CITY" is of the Corps of Engineers. (E-59) */
import { plainWords } from "./names.ts";
import text from "./offices.tsv" with { type: "text" };

/** Changes with the table: what was resolved by another one is resolved again. */
export const officesVersion = Bun.hash.crc32(text);

let read: ReturnType<typeof readPatterns> | undefined;

/** The codes of the agencies to which the words of an office's name lead, in the order of the table. */
export function codesOfOffice(name: string): string[] {
  read ??= readPatterns(text);
  const words = plainWords(name);
  return read.filter((pattern) => pattern.words.test(words)).map(({ code }) => code);
}

function readPatterns(lines: string) {
  const rows = lines.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return rows.map((line) => {
    const [words = "", code = ""] = line.split("\t");
    return { words: new RegExp(`(?<= |^)${words.replaceAll("*", "[^ ]*")}(?= |$)`), code };
  });
}
