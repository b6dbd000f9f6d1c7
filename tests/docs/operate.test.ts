/** The commands in docs/guides/operate.md match the files of the checkout and the systemd units. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const root = join(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const blocksOf = (page: string, kind: string) =>
  [...read(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, itsKind]) => itsKind === kind)
    .map(([, , block = ""]) => block.trim().split("\n"));
const blocks = blocksOf("docs/guides/operate.md", "sh");
const commands = blocks.flat();

describe("docs/guides/operate.md", () => {
  test("installs files that exist in the checkout, and every unit", () => {
    const installed = commands
      .filter((line) => /^sudo (install -m|cp)/.test(line))
      .flatMap((line) => line.split(/\s+/).slice(1, -1))
      .filter((word) => word.includes("/") || /\.(service|timer)$/.test(word));
    expect(installed.length).toBeGreaterThan(2);
    for (const path of installed) {
      if (path === "dist/fundfeed") continue; // `bun run build` makes it.
      expect([path, [...new Bun.Glob(path).scanSync(root)].length > 0]).toEqual([path, true]);
    }
    const units = [...new Bun.Glob("deploy/*.{service,timer}").scanSync(root)];
    for (const unit of units) expect([unit, installed.some((path) => new Bun.Glob(path).match(unit))]).toEqual([unit, true]);
  });

  test("keeps the backup made before an upgrade out of the directory that the daily backup prunes", () => {
    const unit = read("deploy/fundfeed-backup.service");
    const [, pruned = ""] = /^ExecStart=\/usr\/bin\/find (\S+) /m.exec(unit) ?? [];
    const [, written = ""] = /today=(\S+)\/\$\(date/.exec(unit) ?? [];
    expect([pruned, written]).toEqual(["/var/backups/fundfeed/daily", pruned]);
    const kept = commands.filter((line) => line.startsWith("fundfeed backup") && line.includes("before-upgrade"));
    expect(kept).toHaveLength(1);
    expect(kept[0]).not.toContain(pruned);
  });

  test("starts again every unit that it stops for a restore", () => {
    const drill = blocks.find((lines) => lines.some((line) => line.startsWith("fundfeed restore"))) ?? [];
    const unitsOf = (verb: string) =>
      drill
        .filter((line) => line.startsWith(`sudo systemctl ${verb} `))
        .flatMap((line) => line.replace(/ #.*/, "").replaceAll("'", "").split(/\s+/).slice(3));
    expect(unitsOf("stop")).toEqual(["fundfeed"]);
    expect(unitsOf("start")).toEqual(["fundfeed"]);
  });

  test("names the same port for metrics as docs/reference/metrics.md", () => {
    const ports = ["docs/guides/operate.md", "docs/reference/metrics.md"].map((page) => /--metrics-port (\d+)/.exec(read(page))?.[1]);
    expect(ports).toEqual(["9464", "9464"]);
  });
});

describe("docs/guides/tls.md", () => {
  test("gives a server on port 443 a capability that its user namespace does not take away again", () => {
    const lines = blocksOf("docs/guides/tls.md", "ini").find((each) => each.some((line) => line.includes("FUNDFEED_TLS_CERT"))) ?? [];
    expect(lines[0]).toBe("[Service]"); // systemd ignores what stands before a section.
    expect(lines).toContain("AmbientCapabilities=CAP_NET_BIND_SERVICE");
    expect(lines).toContain("PrivateUsers=no");
  });
});

describe("deploy/fundfeed.service", () => {
  test("is started again for as long as its database is away, and not after a mistake in its settings", () => {
    const [unit = "", service = ""] = read("deploy/fundfeed.service").split(/^\[Service\]$/m);
    expect(unit).toContain("\nStartLimitIntervalSec=0\n"); // Otherwise systemd gives up after five starts.
    expect(service).toContain("\nRestart=on-failure\n");
    expect(service).toContain("\nRestartPreventExitStatus=2\n");
  });
});

test.if(Bun.which("systemd-analyze") !== null)("systemd finds no fault in the units", async () => {
  const directory = aDirectory();
  const units = [...new Bun.Glob("*.{service,timer}").scanSync(join(root, "deploy"))];
  for (const name of units) writeFileSync(join(directory, name), read(`deploy/${name}`).replaceAll("/usr/local/bin/fundfeed", "/bin/true"));
  const paths = units.map((name) => join(directory, name));
  const child = Bun.spawn(["systemd-analyze", "verify", "--man=no", ...paths], { stdio: ["ignore", "ignore", "pipe"] });
  const said = (await child.stderr.text()).split("\n");
  expect(said.filter((line) => line.includes("fundfeed"))).toEqual([]); // It may also speak of others, which these need.
  expect(units.length).toBeGreaterThan(4);
});

test("Compose builds the image in directories that have the Dockerfile", () => {
  for (const path of ["compose.yaml", "deploy/scale.yaml"]) {
    const [, directory = ""] = /^ *build: (\S+)$/m.exec(read(path)) ?? [];
    expect([path, existsSync(join(root, dirname(path), directory, "Dockerfile"))]).toEqual([path, directory !== ""]);
  }
});

describe("docs/guides/quotas.md", () => {
  test("has settings that Redis accepts: it takes no comment behind a value", () => {
    const [settings = []] = blocksOf("docs/guides/quotas.md", "");
    expect(settings).toContain("user default off");
    for (const line of settings) expect(line).toMatch(/^(# .*|[^#]*)$/);
  });
});

test("every table row in the documents stands in a table", () => {
  const paths = ["*.md", "docs/**/*.md"].flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)]);
  expect(paths).toContain("docs/reference/settings.md");
  for (const path of paths) {
    const lines = readFileSync(join(root, path), "utf8")
      .replace(/^ *```[\s\S]*?^ *```$/gm, "")
      .split("\n");
    const strays = lines.filter(
      (line, n) => line.trim().startsWith("|") && !lines[n - 1]?.trim().startsWith("|") && !/^\s*\|[\s:|-]+\|$/.test(lines[n + 1] ?? ""),
    );
    expect([path, strays]).toEqual([path, []]);
  }
});
