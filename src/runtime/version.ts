/** The version of the program. */
import packageJson from "../../package.json" with { type: "json" };

export const version: string = packageJson.version;

/** `bun run build` sets it: the commit, or "" where git is missing. */
declare const BUILD_COMMIT: string | undefined;

export const commit: string = typeof BUILD_COMMIT === "undefined" ? "checkout" : BUILD_COMMIT || "unknown";

/** `bun run artefacts` sets it: the platform for which a program of a release was built. */
declare const BUILD_PLATFORM: string | undefined;

/** Which program of a release this is, such as linux-x64-musl, or "own" if somebody built it, or runs it, from the source. */
export const build: string = typeof BUILD_PLATFORM === "undefined" ? "own" : BUILD_PLATFORM;
