/** Forwarding headers, from a proxy or any client, change nothing. */
import { expect, test } from "bun:test";
import { sixtyApi } from "../support/sixty.ts";

const forwardingHeaders = {
  Forwarded: 'for=192.0.2.1;host="evil.example";proto=https',
  "X-Forwarded-For": "192.0.2.1",
  "X-Forwarded-Host": "evil.example",
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Prefix": "/evil",
  "X-Real-IP": "192.0.2.1",
};

test.each(["/opportunities?limit=60", "/opportunities?limit=0", "/meta", "/none"])(
  "%s has the same response with and without forwarding headers",
  async (path) => {
    const [plain, forwarded] = await Promise.all([sixtyApi(), sixtyApi()]);
    const without = await plain.get(path);
    const response = await forwarded.get(path, { headers: forwardingHeaders });
    expect([response.status, response.headers.toJSON(), await response.text()]).toEqual([
      without.status,
      without.headers.toJSON(),
      await without.text(),
    ]);
    expect(forwarded.entries).toEqual(plain.entries);
  },
);
