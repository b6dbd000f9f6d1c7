/** What `up` gives away behind a proxy that ends TLS (a real HAProxy): every address in it is the public one, and never one of this machine. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { DAY_MS } from "../../src/text/instant.ts";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { selfSigned } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { haproxyIsInstalled } from "../support/haproxy.ts";
import { aMailSink, type MailSink } from "../support/mail-sink.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000);
afterAll(dropHomes);

const PUBLIC = "https://feeds.example";
/** Addresses of this server by any name, but not those of sources. */
const OWN_ADDRESS = /\b(?:https?|webcal):\/\/(?:127\.|localhost|feeds\.example|evil\.example|reader\b|0\.0\.0\.0|\[::)[^/<"'\s&\\)]*/g;

const own = (text: string) => [...new Set(text.replaceAll("\r\n ", "").match(OWN_ADDRESS) ?? [])];
const others = (text: string) => own(text).filter((each) => each !== PUBLIC);

describe.skipIf(!haproxyIsInstalled).each([
  ["--base-url", { FUNDFEED_BASE_URL: `${PUBLIC}/v1` }],
  ["FUNDFEED_PAGES_URL", { FUNDFEED_PAGES_URL: PUBLIC }],
])("behind a proxy, with the public address in %s,", (_, setting) => {
  let home: Home;
  let sink: MailSink;
  let server: Server;
  let proxy: Bun.Subprocess;
  let key: string;
  let base: string;

  /** Asks the proxy as a client that reached it by the public name. */
  const ask = (path: string, { headers, ...init }: { headers?: Record<string, string>; method?: string; body?: string } = {}) =>
    fetch(base + path, {
      ...init,
      redirect: "manual",
      headers: { Host: "feeds.example", "X-Forwarded-Host": "evil.example", ...headers },
      tls: { rejectUnauthorized: false },
    });
  const form = (path: string, fields: Record<string, string>, cookie = "") =>
    ask(path, {
      method: "POST",
      body: new URLSearchParams(fields).toString(),
      headers: { Origin: PUBLIC, "Content-Type": "application/x-www-form-urlencoded", ...(cookie !== "" && { Cookie: cookie }) },
    });
  const cookieOf = (response: Response) => response.headers.get("set-cookie") ?? "";
  const bearer = () => ({ headers: { Authorization: `Bearer ${key}` } });

  beforeAll(async () => {
    [home, sink] = [aHome(), await aMailSink()];
    const [port, proxyPort] = [await freePort(), await freePort()];
    base = `https://127.0.0.1:${proxyPort}`;
    const closes_at = new Date(Date.now() + 30 * DAY_MS).toISOString();
    const record = { source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing", dates: { closes_at } };
    const env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "f@feeds.example", ...setting };
    for (const words of [
      ["import", "records", home.file("records.jsonl", JSON.stringify(record))],
      ["members", "add", "@lab.example"],
      ["watch", "add", "w", "quantum", "--to", "smtp", "--mail-to", "ops@lab.example", "--from-start"],
    ])
      expect(await home.run(words, { env })).toMatchObject({ code: 0 });
    key = await home.key();
    server = await home.serve(["up", "--port", `${port}`, "--pull", "none"], { env });
    selfSigned(home.directory, "proxy");
    home.file("proxy.pem", readFileSync(home.at("proxy.crt"), "utf8") + readFileSync(home.at("proxy.key"), "utf8"));
    const config = [
      "defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s",
      `frontend tls\n  bind 127.0.0.1:${proxyPort} ssl crt ${home.at("proxy.pem")}\n  default_backend up`,
      `backend up\n  http-request set-header X-Forwarded-Proto https\n  option forwardfor\n  server one 127.0.0.1:${port}\n`,
    ];
    proxy = Bun.spawn(["haproxy", "-db", "-f", home.file("proxy.cfg", config.join("\n"))], { stdout: "ignore", stderr: "ignore" });
    await waitFor("the index is built", async () => {
      const response = await ask("/find.json?words=quantum", bearer()).catch(() => undefined);
      return response?.status === 200;
    });
  });
  afterAll(async () => {
    proxy?.kill();
    expect(await server?.stop()).toBe(0);
    sink?.close();
  });

  test("redirects stay on the host that was asked", async () => {
    const response = await ask("/deadlines");
    expect([response.status, response.headers.get("location")]).toEqual([303, "/sign-in?to=%2Fdeadlines"]);
  });

  test("the cookie of a key is Secure and bound to the host, and the pages name no other address", async () => {
    const signedIn = await form("/sign-in", { key, to: "/deadlines" });
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/deadlines"]);
    expect(cookieOf(signedIn)).toMatch(/^__Host-fundfeed=.*; Secure/);
    const headers = { Cookie: cookieOf(signedIn).replace(/;.*/, "") };
    for (const path of ["/", "/?words=quantum", "/deadlines", "/changes", "/sources", "/status"]) {
      const response = await ask(path, { headers });
      expect([path, response.status, others(await response.text())]).toEqual([path, 200, []]);
    }
    const subscribe = await (await ask("/subscribe?words=quantum", { headers })).text();
    expect(own(subscribe).sort()).toEqual([PUBLIC, PUBLIC.replace("https", "webcal")]);
    const feeds = [...subscribe.matchAll(/<code id="[a-z]+">https:\/\/feeds\.example([^<]+)<\/code>/g)].map(([, path = ""]) => path);
    expect(feeds).toHaveLength(3);
    for (const path of feeds) {
      const [text, kind] = [await (await ask(path)).text(), path.replace(/.*\./, "")];
      expect([kind, text.includes("Quantum sensing"), others(text)]).toEqual([kind, true, []]);
    }
  });

  test.each(["/find.ics?words=quantum", "/find.csv?words=quantum", "/find.json?words=quantum", "/changes.atom?since=all", "/events.json"])(
    "%s names the public address alone",
    async (path) => {
      const response = await ask(path, bearer());
      expect([response.status, others(await response.text())]).toEqual([200, []]);
    },
  );

  test.if("FUNDFEED_BASE_URL" in setting)("the API describes itself with it", async () => {
    expect(own(await (await ask("/v1/openapi.json")).text())).toEqual([PUBLIC]);
    expect(await (await ask("/v1/none")).json()).toMatchObject({ type: expect.stringContaining(`${PUBLIC}/v1/`) });
  });

  test("agents get no address of this machine", async () => {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "find", arguments: { words: "quantum" } } };
    const headers = { ...bearer().headers, "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    const text = await (await ask("/mcp", { method: "POST", body: JSON.stringify(call), headers })).text();
    expect([text.includes("Quantum sensing"), others(text)]).toEqual([true, []]);
  });

  test("mails lead to it: the link to sign in, whose cookie is Secure, and what a watch found", async () => {
    const watched = await waitFor("the mail of the watch", () => sink.mails.find(({ to }) => to === "ops@lab.example"));
    expect(own(watched.text)).toEqual([PUBLIC]);
    expect(watched.text).toContain(`${PUBLIC}/opportunities/`);
    expect(watched.head).toContain(`List-Unsubscribe: <${PUBLIC}/unsubscribe/`);
    expect((await form("/sign-in", { address: "ann@lab.example" })).status).toBe(200);
    const mail = await waitFor("the mail with a link", () => sink.mails.find(({ to }) => to === "ann@lab.example"));
    expect(own(mail.text)).toEqual([PUBLIC]);
    const [, path = ""] = /https:\/\/feeds\.example(\/sign-in\/[\w-]+)/.exec(mail.text) ?? [];
    const used = await form(path, {});
    expect([used.status, cookieOf(used)]).toEqual([303, expect.stringMatching(/^__Host-fundfeed=.*; Secure/)]);
    const cookie = cookieOf(used).replace(/;.*/, "");
    expect((await form("/watches", { query: "words=quantum", title: "Q" }, cookie)).status).not.toBe(403);
  });
});
