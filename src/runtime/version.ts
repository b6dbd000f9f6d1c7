/** The version of the program. */
import packageJson from "../../package.json" with { type: "json" };

/** The program's version, from package.json. */
export const version: string = packageJson.version;

/** `bun run build` sets it: the commit, or "" where git is missing. */
declare const BUILD_COMMIT: string | undefined;

/** The commit that the program was built from. */
export const commit: string = typeof BUILD_COMMIT === "undefined" ? "checkout" : BUILD_COMMIT || "unknown";
