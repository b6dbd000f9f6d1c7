/** The program's version, as package.json has it. */
import packageJson from "../package.json" with { type: "json" };

export const version: string = packageJson.version;
/** The API's version: the `/v1` segment, `API-Version` and /meta. */
export const apiVersion = "1";
