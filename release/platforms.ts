/** The platforms for which a release has a program. */

/** `target` is Bun's name of it, `os`, `cpu` and `libc` are npm's, `deb` is Debian's architecture. */
export type Platform = { name: string; target: string; os: string; cpu: string; libc?: "glibc" | "musl"; deb?: string };

export const platforms: readonly Platform[] = [
  { name: "linux-x64", target: "bun-linux-x64-baseline", os: "linux", cpu: "x64", libc: "glibc", deb: "amd64" },
  { name: "linux-arm64", target: "bun-linux-arm64", os: "linux", cpu: "arm64", libc: "glibc", deb: "arm64" },
  { name: "linux-x64-musl", target: "bun-linux-x64-musl-baseline", os: "linux", cpu: "x64", libc: "musl" },
  { name: "linux-arm64-musl", target: "bun-linux-arm64-musl", os: "linux", cpu: "arm64", libc: "musl" },
  { name: "darwin-x64", target: "bun-darwin-x64", os: "darwin", cpu: "x64" },
  { name: "darwin-arm64", target: "bun-darwin-arm64", os: "darwin", cpu: "arm64" },
  { name: "windows-x64", target: "bun-windows-x64-baseline", os: "win32", cpu: "x64" },
];

/** The name of the program's file inside a package. */
export function programName({ os }: Platform): string {
  return os === "win32" ? "fundfeed.exe" : "fundfeed";
}

/** The name of the program's file among those of a release. */
export function binaryName(platform: Platform): string {
  return `fundfeed-${platform.name}${platform.os === "win32" ? ".exe" : ""}`;
}
