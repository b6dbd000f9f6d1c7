/** What a proxy, or anybody, says of the connection changes nothing. */
import { expect, test } from "bun:test";
import { sixtyApi } from "../support/sixty.ts";

const told = {
  Forwarded: 'for=192.0.2.1;host="evil.example";proto=https',
  "X-Forwarded-For": "192.0.2.1",
  "X-Forwarded-Host": "evil.example",
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Prefix": "/evil",
  "X-Real-IP": "192.0.2.1",
};

test.each(["/opportunities?limit=60", "/opportunities?limit=0", "/meta", "/none"])(
  "%s is answered as without forwarding headers",
  async (path) => {
    const [plain, forwarded] = await Promise.all([sixtyApi(), sixtyApi()]);
    const without = await plain.get(path);
    const answer = await forwarded.get(path, { headers: told });
    expect([answer.status, answer.headers.toJSON(), await answer.text()]).toEqual([
      without.status,
      without.headers.toJSON(),
      await without.text(),
    ]);
    expect(forwarded.entries).toEqual(plain.entries);
  },
);
