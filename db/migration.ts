/** Migrations: every change of a schema, in order. Tests open the data of every released version, so a released migration never changes. */

export type Migration = { tag: string; sql: string };

type Step = { n: number; tag: string; hash: string; statements: readonly string[] };

/** The migrations that a database lacks. Throws if it is newer than this program, or if one of its migrations had another text. */
export function missingOf(all: readonly Migration[], done: readonly { hash: string }[]): Step[] {
  if (done.length > all.length) throw new Error("a newer version of fundfeed made it");
  return all.flatMap(({ tag, sql }, index) => {
    const hash = new Bun.CryptoHasher("sha256").update(sql).digest("hex");
    const applied = done[index];
    if (applied === undefined) return [{ n: index + 1, tag, hash, statements: sql.split("--> statement-breakpoint") }];
    if (applied.hash !== hash) throw new Error(`its migration ${tag} differs from this program's`);
    return [];
  });
}
