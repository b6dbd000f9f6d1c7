/** Program types by an ordered list of rules. The first rule that applies decides. */
import type { ProgramType } from "../opportunities/opportunity.ts";

export type ProgramFacts = {
  program?: string | null;
  title?: string | null;
  number?: string | null;
  noticeType?: string | null;
  instruments?: readonly string[];
};

/** All patterns must match: `named` title or number, `instruments` the codes joined by blanks. */
type ProgramRule = {
  type: ProgramType;
  program?: RegExp;
  named?: RegExp;
  title?: RegExp;
  noticeType?: RegExp;
  instruments?: RegExp;
};

export const programRules: readonly ProgramRule[] = [
  { type: "STTR", program: /^STTR$/i },
  { type: "SBIR", program: /^(SBIR|BOTH)$/i },
  // A title with both words is SBIR, as an upstream's BOTH is. Digits and punctuation may touch the word, letters may not.
  { type: "SBIR", named: /(?<![a-z])SBIR(?![a-z])|small business innovat(ion|ive) research/i },
  { type: "STTR", named: /(?<![a-z])STTR(?![a-z])|small business technology transfer/i },
  { type: "BAA", title: /broad agency announcement|\bBAA\b/i },
  { type: "CSO", title: /commercial solutions? opening|^(?!.*civil society).*\bCSO\b/i }, // Civil society organizations are CSOs too.
  { type: "OTA", title: /\bother transactions?\b( (authority|authorities|agreements?))?/i },
  { type: "OTA", title: /^(?=.*\bOTA?\b).*prototyp/is }, // Anchored, because "OT OT OT …" would be searched to its end from each "OT".
  { type: "CRADA", title: /cooperative research (and|&) development agreement|\bCRADA\b/i },
  { type: "PRIZE", title: /\bprize (competition|challenge)\b/i },
  {
    type: "INDUSTRY_EVENT",
    noticeType: /^special notice$/i,
    title: /\bindustry (day|event)s?\b|\bpre-?\s?proposal conference\b|\bsite visit\b/i,
  },
  { type: "RFI", noticeType: /^sources sought$/i },
  { type: "RFI", title: /requests? for information|\bRFI\b/i },
  { type: "RFP", noticeType: /^(solicitation|combined synopsis\/solicitation|presolicitation)$/i },
  { type: "CONTRACT", noticeType: /^(award notice|justification\b.*|consolidate\b.*|intent to bundle\b.*)$/i },
  { type: "GRANT", instruments: /\b(G|CA)\b/ },
  { type: "CONTRACT", instruments: /^PC$/ },
];

/** The program type of an opportunity; OTHER if no rule applies. */
export function programType(facts: ProgramFacts): ProgramType {
  const texts = {
    program: facts.program ?? "",
    named: `${facts.title ?? ""}\n${facts.number ?? ""}`,
    title: facts.title ?? "",
    noticeType: facts.noticeType ?? "",
    instruments: facts.instruments?.join(" ") ?? "",
  };
  for (const { type, patterns } of prepared) if (patterns.every(([part, pattern]) => pattern.test(texts[part]))) return type;
  return "OTHER";
}

type Part = Exclude<keyof ProgramRule, "type">;

const prepared = programRules.map(({ type, ...patterns }) => ({ type, patterns: Object.entries(patterns) as [Part, RegExp][] }));
