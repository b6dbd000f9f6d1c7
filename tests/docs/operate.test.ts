/** The commands in docs/operate/index.md match the files of the checkout and the systemd units. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const read = (name: string) => readFileSync(join(root, "docs/operate", name), "utf8");
const commands = [...read("index.md").matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) => block.trim().split("\n"));

describe("docs/operate/index.md", () => {
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
    const units = [...new Bun.Glob("docs/operate/*.{service,timer}").scanSync(root)];
    for (const unit of units) expect([unit, installed.some((path) => new Bun.Glob(path).match(unit))]).toEqual([unit, true]);
  });

  test("keeps the backup made before an upgrade out of the directory that the daily backup prunes", () => {
    const unit = read("fundfeed-backup.service");
    const [, pruned = ""] = /^ExecStart=\/usr\/bin\/find (\S+) /m.exec(unit) ?? [];
    const [, written = ""] = /today=(\S+)\/\$\(date/.exec(unit) ?? [];
    expect([pruned, written]).toEqual(["/var/backups/fundfeed/daily", pruned]);
    const kept = commands.filter((line) => line.startsWith("fundfeed backup") && line.includes("before-upgrade"));
    expect(kept).toHaveLength(1);
    expect(kept[0]).not.toContain(pruned);
  });

  test("names the same port for metrics as docs/operate/metrics.md", () => {
    const ports = ["index.md", "metrics.md"].map((page) => /--metrics-port (\d+)/.exec(read(page))?.[1]);
    expect(ports).toEqual(["9464", "9464"]);
  });
});
