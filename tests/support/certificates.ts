/** Certificates made by openssl for the tests. They name this machine unless `names` is given. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const THIS_MACHINE = "DNS:localhost,IP:127.0.0.1";
const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Writes a self-signed certificate, `<name>.crt` and `<name>.key`, to the directory. Throws if openssl fails. */
export function selfSigned(directory: string, name: string): void {
  const at = (kind: string) => join(directory, `${name}.${kind}`);
  const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=${THIS_MACHINE}`];
  openssl("req", "-x509", ...EC, "-keyout", at("key"), "-out", at("crt"), "-days", "2", ...subject);
}

/** Writes `<name>.crt` and `<name>.key` to the directory, signed by `issuer` from the same directory. Throws if openssl fails. */
export function signedBy(issuer: string, directory: string, name: string, { names = THIS_MACHINE, days = 2 } = {}): void {
  const at = (kind: string, of = name) => join(directory, `${of}.${kind}`);
  writeFileSync(at("ext"), `subjectAltName=${names}\n`);
  openssl("req", ...EC, "-keyout", at("key"), "-out", at("csr"), "-subj", `/CN=${name}`);
  const authority = ["-CA", at("crt", issuer), "-CAkey", at("key", issuer), "-CAcreateserial"];
  openssl("x509", "-req", "-in", at("csr"), ...authority, "-out", at("crt"), "-days", `${days}`, "-extfile", at("ext"));
}

function openssl(...args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args]);
  if (exitCode !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr}`);
}
