/** The Debian package: program, systemd unit, manual, completions. Removing it leaves nothing but the data in /var/lib/fundfeed. */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../package.json" with { type: "json" };
import { runProgram } from "./run-program.ts";

const root = join(import.meta.dir, "..");

/** Writes the package of a program for Debian's `architecture`. `runnable` is the same program for this machine, for its manual. */
export async function packDebian(program: string, runnable: string, architecture: string, directory: string): Promise<string> {
  const tree = mkdtempSync(join(tmpdir(), "fundfeed-deb-"));
  try {
    const put = (path: string, content: string | Uint8Array, mode = 0o644) => {
      mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 });
      writeFileSync(join(tree, path), content);
      chmodSync(join(tree, path), mode);
    };
    mkdirSync(join(tree, "usr/bin"), { recursive: true, mode: 0o755 });
    copyFileSync(program, join(tree, "usr/bin/fundfeed"));
    chmodSync(join(tree, "usr/bin/fundfeed"), 0o755);
    put("usr/lib/systemd/system/fundfeed.service", unit());
    put("usr/share/man/man1/fundfeed.1.gz", packed(await runProgram([runnable, "man"])));
    put("usr/share/bash-completion/completions/fundfeed", await runProgram([runnable, "completion", "bash"]));
    put("usr/share/zsh/vendor-completions/_fundfeed", await runProgram([runnable, "completion", "zsh"]));
    put("usr/share/fish/vendor_completions.d/fundfeed.fish", await runProgram([runnable, "completion", "fish"]));
    put("usr/share/doc/fundfeed/copyright", copyright());
    put("usr/share/doc/fundfeed/changelog.gz", packed(await changelog()));
    put("usr/share/doc/fundfeed/NEWS.gz", packed(readFileSync(join(root, "CHANGELOG.md"))));
    put("usr/share/lintian/overrides/fundfeed", OVERRIDES);
    const kilobytes = Math.ceil(Number((await runProgram(["du", "-sk", tree])).split("\t")[0]));
    put("DEBIAN/control", control(architecture, kilobytes));
    put("DEBIAN/postinst", POSTINST, 0o755);
    put("DEBIAN/prerm", PRERM, 0o755);
    put("DEBIAN/postrm", POSTRM, 0o755);
    chmodSync(tree, 0o755);
    const path = join(directory, `fundfeed_${version}_${architecture}.deb`);
    mkdirSync(directory, { recursive: true });
    const time = (await runProgram(["git", "log", "-1", "--format=%ct"], root)).trim(); // So that the same commit makes the same package.
    await runProgram(["env", `SOURCE_DATE_EPOCH=${time}`, "dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", tree, path]);
    return path;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** The unit in deploy, for the program and the user of this package. systemd makes the user, and removes it when the unit stops. */
function unit(): string {
  return readFileSync(join(root, "deploy/fundfeed.service"), "utf8")
    .replace(/^# \/etc\/.*\n/, "")
    .replaceAll("/usr/local/bin/", "/usr/bin/")
    .replace(/^User=fundfeed$/m, "DynamicUser=yes");
}

function packed(content: string | Uint8Array): Buffer {
  return gzipSync(content, { level: 9 });
}

function control(architecture: string, kilobytes: number): string {
  return `Package: fundfeed
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28)
Section: net
Priority: optional
Description: US federal funding opportunities with their history, served from one binary
 fundfeed imports what the federal sources of funding publish,
 keeps every change, serves it over HTTP, and lets people search and watch it.
`;
}

function copyright(): string {
  const licenses = readFileSync(join(root, "docs/reference/licenses.md"), "utf8");
  return `${readFileSync(join(root, "LICENSE"), "utf8")}\n${licenses}\nOn Debian systems, the LGPL is in /usr/share/common-licenses/LGPL-2.\n`;
}

async function changelog(): Promise<string> {
  const date = (await runProgram(["git", "log", "-1", "--format=%cD"], root)).trim();
  return `fundfeed (${version}) unstable; urgency=medium\n\n  * See NEWS.gz.\n\n -- ${MAINTAINER}  ${date}\n`;
}

const MAINTAINER = "fundfeed maintainers <maintainers@fundfeed.invalid>";

/** The program is Bun's, with its JavaScript behind the sections that strip would keep. One unit needs no helper of debhelper. */
const OVERRIDES = `fundfeed: unstripped-binary-or-object
fundfeed: embedded-library
fundfeed: hardening-no-pie
fundfeed: hardening-no-relro
fundfeed: maintainer-script-calls-systemctl
`;

/** The service is not enabled: it would pull before its operator has chosen anything. */
const POSTINST = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
    if [ "$1" = configure ] && [ -n "$2" ]; then
        systemctl try-restart fundfeed.service || true
    fi
fi
`;
const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now fundfeed.service || true
fi
`;
const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
fi
`;
