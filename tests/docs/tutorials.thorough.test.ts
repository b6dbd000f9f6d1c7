/**
 * Follows the tutorials to the letter, each in an empty home: saves their files, runs their lines, and compares what they show. Only the
 * network is missing: Grants.gov is a server of the test, and lines that install something are left out.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { program, QUICK } from "../support/binary.ts";
import { freePort } from "../support/free-port.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { readText } from "../support/project-files.ts";
import { realFile } from "../support/real-data.ts";
import { zipArchive } from "../support/zip-archive.ts";

setDefaultTimeout(300_000);

/** Lines that need the network, or that prepare the shell. The test has the program, the directory and perhaps pandas. */
const PREPARES =
  /^(npx --yes bun@1\.4\.5 run build|export PATH="\$PWD\/dist:\$PATH"|(mkdir ~\/funding && )?cd ~\/funding|python3 -m venv .*|pip install pandas)$/;
/** Lines that run until the reader stops them, in a terminal of their own. */
const LASTS = /^(node mail\.mjs|fundfeed up)$/;
/** The Python that has pandas: that of the path, or that of the operating system. */
const withPandas = ["python3", "/usr/bin/python3"].find(
  (python) => Bun.which(python) && Bun.spawnSync([python, "-c", "import pandas"]).success,
);

/** `said` is the paragraph before the block. */
type Block = { language: string; text: string; said: string };
type McpConfig = { mcpServers: { fundfeed: { command: string; args: string[] } | { url: string; headers: Record<string, string> } } };

let upstream: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  const xml = realFile("grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz");
  const extract = Buffer.from(zipArchive("GrantsDBExtract20260803v2.xml", xml));
  const fetch = ({ url }: Request) => (/GrantsDBExtract\d+v2\.zip/.test(url) ? new Response(extract) : new Response("", { status: 404 }));
  upstream = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
});
afterAll(async () => {
  await upstream.stop(true);
  dropScratch();
});

let reader: Awaited<ReturnType<typeof aReader>>;
beforeEach(async () => {
  reader = await aReader();
});
afterEach(() => reader.stop());

test("Your first alert ends with a mail", async () => {
  expect(await reader.follow("first-alert")).toEqual({ files: 1, lines: 5, lasting: 1, shown: 2 });
});

test("Connect an agent connects it in both ways, and shows the response", async () => {
  await reader.run("fundfeed pull grants-gov");
  expect(await reader.follow("agent")).toEqual({ files: 2, lines: 2, lasting: 1, shown: 1 });
});

test("A copy of all data in Python reads it with the standard library", async () => {
  await reader.run("fundfeed pull grants-gov");
  expect(await reader.follow("python", /^python3 history\.py$/)).toEqual({ files: 2, lines: 2, lasting: 0, shown: 1 });
});

test.skipIf(withPandas === undefined)("A copy of all data in Python reads it with pandas, too", async () => {
  await reader.run("fundfeed pull grants-gov");
  expect(await reader.follow("python")).toEqual({ files: 2, lines: 3, lasting: 0, shown: 1 });
});

/** The code blocks of a tutorial, in order. */
function blocksOf(page: string): Block[] {
  const blocks = readText(`docs/start/${page}.md`).matchAll(/^(?:([^\n]+)\n\n)?```(\w+)\n([\s\S]*?)^```$/gm);
  return Array.from(blocks, ([, said = "", language = "", text = ""]) => ({ said, language, text }));
}

/** Somebody with an empty home, who has `fundfeed` in the path and does what a page says. */
async function aReader() {
  const home = aDirectory();
  const directory = join(home, "funding");
  const [bin, mailPort, serverPort] = [join(home, "bin"), await freePort(), await freePort()];
  for (const each of [directory, bin]) mkdirSync(each);
  // The test's Grants.gov has no certificate.
  writeFileSync(join(bin, "fundfeed"), `#!/bin/sh\n[ "$1" != pull ] || set -- "$@" --allow-http\nexec '${program}' "$@"\n`);
  writeFileSync(join(bin, "python3"), `#!/bin/sh\nexec '${Bun.which(withPandas ?? "python3")}' "$@"\n`);
  for (const name of ["fundfeed", "python3"]) chmodSync(join(bin, name), 0o755);
  const env: Record<string, string> = {
    ...QUICK,
    HOME: home,
    PATH: `${bin}:${process.env.PATH}`,
    FUNDFEED_GRANTS_GOV_URL: `${upstream.url}`,
    FUNDFEED_PORT: `${serverPort}`,
    FUNDFEED_PULL: "none",
  };
  const lasting: { child: Bun.Subprocess<"ignore", "pipe", "ignore">; rest: () => Promise<string> }[] = [];
  const here = (text: string) =>
    text.replaceAll("2525", `${mailPort}`).replaceAll("127.0.0.1:8080", `127.0.0.1:${serverPort}`).replaceAll("/srv/funding", directory);

  /** Runs a line to its end, and returns what it printed. What it exports stays. */
  async function run(line: string): Promise<string> {
    const [, name] = /^export (\w+)=/.exec(line) ?? [];
    const command = name === undefined ? here(line) : `${here(line)}; printf %s "$${name}"`;
    const child = Bun.spawn(["sh", "-ec", command], { cwd: directory, env, stdout: "pipe", stderr: "pipe" });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (code !== 0) throw new Error(`"${line}" exited with ${code} and printed: ${out}${err}`);
    if (name !== undefined) env[name] = out;
    return `${out}${err}`;
  }

  /** Starts a line, and waits until it prints something. */
  async function start(line: string): Promise<void> {
    const child = Bun.spawn(["sh", "-c", `exec ${line}`], { cwd: directory, env, stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    const output = child.stdout.getReader();
    const first = await output.read();
    if (first.done) throw new Error(`"${line}" exited with ${await child.exited} and printed nothing`);
    const rest = async () => {
      let text = "";
      for (let next = await output.read(); !next.done; next = await output.read()) text += Buffer.from(next.value).toString();
      return text;
    };
    lasting.push({ child, rest });
  }

  /** Stops what lasts, and returns what it printed since it was ready. */
  async function stop(): Promise<string> {
    const printed = lasting.splice(0).map(async ({ child, rest }) => {
      child.kill("SIGTERM");
      await child.exited;
      return rest();
    });
    return (await Promise.all(printed)).join("");
  }

  /** Asks as a client does that has this configuration, and returns the text of the response. */
  async function ask({ mcpServers: { fundfeed: server } }: McpConfig, args: Record<string, unknown>): Promise<string> {
    const withVariables = (text: string) => text.replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? "");
    const transport =
      "command" in server
        ? new StdioClientTransport({
            ...server,
            command: Bun.which(server.command, { PATH: bin }) ?? "",
            cwd: directory,
            env,
            stderr: "ignore",
          })
        : new StreamableHTTPClientTransport(new URL(server.url), {
            requestInit: { headers: Object.entries(server.headers).map(([name, value]): [string, string] => [name, withVariables(value)]) },
          });
    const client = new Client({ name: "reader", version: "1" });
    await client.connect(transport);
    const { content } = await client.callTool({ name: "find", arguments: args });
    await client.close();
    return JSON.stringify(content, null, 1).replaceAll("\\n", "\n").replaceAll('\\"', '"');
  }

  /** Does what a page says, but for lines to leave out, and returns how much of each kind that was. Throws if anything fails or is not as shown. */
  async function follow(page: string, leftOut = /^$/) {
    const done = { files: 0, lines: 0, lasting: 0, shown: 0 };
    let printed = "";
    let shown = "";
    let config: McpConfig | undefined;
    let question: Record<string, unknown> = {};
    for (const { language, text, said } of blocksOf(page)) {
      const [, file] = /^(?:Save this as|Replace) `([^`]+)`/.exec(said) ?? [];
      if (file !== undefined) {
        writeFileSync(join(directory, file), here(text));
        done.files++;
        if (file !== ".mcp.json") continue;
        config = JSON.parse(here(text)) as McpConfig;
        if (!("url" in config.mcpServers.fundfeed)) continue;
        expectShown(await ask(config, question), shown); // "The response is the same."
      } else if (language === "json" && config !== undefined) {
        question = JSON.parse(text) as Record<string, unknown>;
        printed = await ask(config, question);
      } else if (language === "text") {
        expectShown(/second terminal/.test(said) ? await stop() : printed, text);
        shown = text;
        done.shown++;
      } else if (language === "sh") {
        for (const line of text.trim().split("\n")) {
          if (PREPARES.test(line) || leftOut.test(line)) continue;
          done[LASTS.test(line) ? "lasting" : "lines"]++;
          if (LASTS.test(line)) await start(line);
          else printed = await run(line);
          if (line.startsWith("curl ")) expectShown(printed, shown.replaceAll('"', '\\"')); // The response is JSON.
        }
      } else throw new Error(`${page}.md: the test does not know what to do with the block after "${said}"`);
    }
    return done;
  }

  return { run, follow, stop };
}

/** Each line that a page shows is printed, in this order. */
function expectShown(printed: string, text: string): void {
  let rest = printed;
  for (const line of text.split("\n").map((each) => each.trim())) {
    expect(rest).toContain(line);
    rest = rest.slice(rest.indexOf(line) + line.length);
  }
}
