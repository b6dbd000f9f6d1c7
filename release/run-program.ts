/** Runs another program. */

/** Runs a program to its end, and returns its standard output. Throws with its standard error if it fails. */
export async function runProgram(command: readonly string[], directory?: string): Promise<string> {
  const child = Bun.spawn([...command], { ...(directory !== undefined && { cwd: directory }), stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}: ${err}${out}`);
  return out;
}
