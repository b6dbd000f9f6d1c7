import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Where Debian installs PostgreSQL. */
const INSTALLED = "/usr/lib/postgresql";

/** Returns the directory of the newest version's programs; `undefined` if PostgreSQL is not installed. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(INSTALLED)) return undefined;
  const newest = readdirSync(INSTALLED).sort((left, right) => Number(right) - Number(left))[0];
  const directory = join(INSTALLED, newest ?? "", "bin");
  return existsSync(join(directory, "initdb")) ? directory : undefined;
}
