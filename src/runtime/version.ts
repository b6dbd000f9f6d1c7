import packageJson from "../../package.json" with { type: "json" };

/** The program's version, from package.json. */
export const version: string = packageJson.version;
