/** Answers that are kept, where the same is asked again and again and looking up costs less than answering. */

/** The last answer again while the question is the same. */
export function memoizeLast<Question, Answer>(answer: (question: Question) => Answer): (question: Question) => Answer {
  let last: { question: Question; value: Answer } | undefined;
  return (question) => {
    if (last?.question !== question) last = { question, value: answer(question) };
    return last.value;
  };
}

/** Longest question whose answer is kept: files decide how long questions are, and must not decide how much memory they take. */
const QUESTION_MAX = 40;

/** Some `atMost` answers, then all of them are forgotten. An `undefined` is not kept. */
export function memoize<Answer>(
  atMost: number,
  answer: (question: string) => Answer | undefined,
): (question: string) => Answer | undefined {
  const kept = new Map<string, Answer>();
  return (question) => {
    const known = kept.get(question);
    if (known !== undefined) return known;
    const value = answer(question);
    if (value === undefined || question.length > QUESTION_MAX) return value;
    if (kept.size === atMost) kept.clear();
    kept.set(question, value);
    return value;
  };
}
