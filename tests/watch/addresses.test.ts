import { describe, expect, test } from "bun:test";
import type { LookupAddress } from "node:dns";
import { isPublicAddress, PRIVATE_ADDRESS, publicLookup } from "../../src/watch/post.ts";

describe("isPublicAddress()", () => {
  test.each([
    "8.8.8.8",
    "1.1.1.1",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "100.63.0.1",
    "100.128.0.0",
    "2606:4700::1111",
    "2a00:1450:4001::1",
  ])("takes %s", (address) => expect(isPublicAddress(address)).toBe(true));

  test.each([
    "127.0.0.1",
    "127.255.255.255",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254", // Metadata of cloud machines.
    "100.64.0.1",
    "0.0.0.0",
    "198.18.0.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "2001:0:7f00:1::",
    "",
    "localhost",
  ])("refuses %j", (address) => expect(isPublicAddress(address)).toBe(false));
});

describe("publicLookup()", () => {
  const found = (...addresses: string[]) =>
    new Promise<string | LookupAddress[]>((resolve) => {
      const lookup = publicLookup((_, __, done) =>
        done(
          null,
          addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        ),
      );
      lookup("host.example", { all: true }, (error, result) => resolve(error === null ? result : (error.code ?? "")));
    });

  test("returns only the public addresses of a host", async () => {
    expect(await found("10.0.0.1", "8.8.8.8", "::1")).toEqual([{ address: "8.8.8.8", family: 4 }]);
  });

  test("fails for a host that has none", async () => {
    expect(await found("127.0.0.1", "fd00::1")).toBe(PRIVATE_ADDRESS);
    expect(await found()).toBe(PRIVATE_ADDRESS);
  });
});
