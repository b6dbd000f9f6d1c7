/** The formulas of Homebrew and Scoop for the files of a release. */
import { description, license, version } from "../package.json" with { type: "json" };

/** `url` leads to the files of the release, `sums` are SHA-256 by the name of a file. */
export type Released = { url: string; sums: ReadonlyMap<string, string> };

/** The text of fundfeed.rb. */
export function homebrewFormula({ url, sums }: Released): string {
  const of = (name: string) => `      url "${url}/fundfeed-${name}"\n      sha256 "${sums.get(`fundfeed-${name}`)}"`;
  const system = (name: string, os: string) =>
    `  on_${name} do\n    on_arm do\n${of(`${os}-arm64`)}\n    end\n    on_intel do\n${of(`${os}-x64`)}\n    end\n  end`;
  return `class Fundfeed < Formula
  desc "${description.replace(/^(?:An?|The) /, "")}"
  homepage "${url.replace(/\/releases\/.*$/, "")}"
  version "${version}"
  license "${license}"

${system("macos", "darwin")}

${system("linux", "linux")}

  def install
    bin.install Dir["fundfeed-*"].first => "fundfeed"
    generate_completions_from_executable(bin/"fundfeed", "completion")
    (man1/"fundfeed.1").write Utils.safe_popen_read(bin/"fundfeed", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/fundfeed version")
  end
end
`;
}

/** The text of fundfeed.json. */
export function scoopManifest({ url, sums }: Released): string {
  const name = "fundfeed-windows-x64.exe";
  const manifest = {
    version,
    description,
    homepage: url.replace(/\/releases\/.*$/, ""),
    license,
    architecture: { "64bit": { url: `${url}/${name}#/fundfeed.exe`, hash: sums.get(name) } },
    bin: "fundfeed.exe",
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
