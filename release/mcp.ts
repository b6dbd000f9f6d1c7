/** What MCP clients install from: a bundle for each platform, which starts `fundfeed mcp`, and server.json for registries. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packExtension } from "@anthropic-ai/mcpb";
import { description, license, version } from "../package.json" with { type: "json" };
import { tools } from "../src/mcp/tools/all.ts";
import type { Released } from "./formulas.ts";
import { type Platform, programName } from "./platforms.ts";

/** Writes the bundle of a program into a directory, and returns its path. Throws if its manifest is not valid. */
export async function packBundle(platform: Platform, program: string, directory: string): Promise<string> {
  const tree = mkdtempSync(join(tmpdir(), "fundfeed-mcpb-"));
  try {
    const path = join(tree, "server", programName(platform));
    mkdirSync(join(tree, "server"));
    copyFileSync(program, path);
    chmodSync(path, 0o755);
    writeFileSync(join(tree, "manifest.json"), `${JSON.stringify(manifestOf(platform), null, 2)}\n`);
    const outputPath = join(directory, bundleName(platform));
    if (!(await packExtension({ extensionPath: tree, outputPath, silent: true }))) throw new Error(`Cannot pack ${outputPath}`);
    return outputPath;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** The name of the bundle among the files of a release. */
export function bundleName({ name }: Platform): string {
  return `fundfeed-${name}.mcpb`;
}

/** Clients tell systems apart, and neither processors nor C libraries: whoever downloads a bundle chooses. */
function manifestOf(platform: Platform) {
  const program = `server/${programName(platform)}`;
  return {
    manifest_version: "0.3",
    name: "fundfeed",
    display_name: "fundfeed",
    version,
    description,
    author: { name: "fundfeed maintainers" },
    license,
    server: {
      type: "binary",
      entry_point: program,
      mcp_config: { command: `\${__dirname}/${program}`, args: ["mcp", "--data", `\${user_config.data}`], env: {} },
    },
    tools: tools.map(({ name, title }) => ({ name, description: title })),
    user_config: {
      data: {
        type: "directory",
        title: "Data directory",
        description: "The data directory of fundfeed, which `fundfeed up` or `fundfeed pull` fills",
        required: true,
      },
    },
    compatibility: { platforms: [platform.os] },
  };
}

/** The text of server.json: the bundles, and a team's own server, whose address and key a client asks for. */
export function serverJson({ url, sums }: Released, bundled: readonly Platform[]): string {
  const repository = url.replace(/\/releases\/.*$/, "");
  const { hostname, pathname } = new URL(repository);
  const owner = hostname === "github.com" ? ["io.github", pathname.split("/")[1]] : hostname.split(".").reverse(); // Who publishes proves it.
  const server = {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: `${owner.join(".")}/fundfeed`,
    title: "fundfeed",
    description,
    version,
    ...(hostname === "github.com" && { repository: { url: repository, source: "github" } }),
    packages: bundled.map((platform) => ({
      registryType: "mcpb",
      identifier: `${url}/${bundleName(platform)}`,
      version,
      fileSha256: sums.get(bundleName(platform)),
      transport: { type: "stdio" },
    })),
    remotes: [
      {
        type: "streamable-http",
        url: "https://{host}/mcp",
        variables: { host: { description: "Host of your team's fundfeed up", isRequired: true } },
        headers: [
          {
            name: "Authorization",
            description: "An API key of that server",
            value: "Bearer {key}",
            isRequired: true,
            isSecret: true,
            variables: { key: { description: "API key", isRequired: true, isSecret: true } },
          },
        ],
      },
    ],
  };
  return `${JSON.stringify(server, null, 2)}\n`;
}
