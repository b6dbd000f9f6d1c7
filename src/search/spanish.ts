/** Whether a question is in Spanish. All texts are in English, so it hardly finds anything. */
import { wordsOf } from "../text/words-of.ts";

/** Words that English questions do not have. Those of the second list count only together with one of the first. */
const SPANISH = new Set(
  `para por con una del que sobre como hay donde subvenciones subvencion becas beca fondos ayudas ayuda pequenas pequena empresas empresa
  investigacion proyectos financiacion salud agua energia mujeres`.split(/\s+/),
);
const MAYBE = new Set("de la el los las en un y a o al su sin es".split(" "));

/** At least two words of a question, and a third of all, must be Spanish ones. */
export function isSpanish(question: string): boolean {
  const words = wordsOf(question);
  const sure = words.filter((word) => SPANISH.has(word)).length;
  const all = sure + words.filter((word) => MAYBE.has(word)).length;
  return sure > 0 && all >= 2 && all * 3 >= words.length;
}
