/** Text folded for comparing without letter case: "É" and "é" become the same, as do "ß" and "SS" (D-12). */
export function fold(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}
