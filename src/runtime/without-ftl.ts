/** Imports run without the last stage of JavaScriptCore's compiler, FTL: it was a quarter to a third of the processor time of a first import. */

/** JavaScriptCore reads this variable when a process starts, and never again. */
export const WITHOUT_FTL = { BUN_JSC_useFTLJIT: "0" } as const;

/** Replaces this process by the same program without FTL. Returns if it cannot, or if the variable is set already. */
export function restartWithoutFtl(
  program: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  const [file] = program;
  if (file === undefined || "BUN_JSC_useFTLJIT" in env || process.platform !== "linux") return;
  try {
    process.execve?.(file, [...program, ...args], { ...env, ...WITHOUT_FTL });
  } catch {} // It is only faster.
}
