import { expect, test } from "bun:test";
import { webAddress } from "../../src/text/web-address.ts";

test.each([
  [
    "https://nspires.nasaprs.com/external/solicitations/summary.do?solId={C92A28D2-9E30-4149-24B7-8A40ED4F564B}&path=&method=init",
    "https://nspires.nasaprs.com/external/solicitations/summary.do?solId=%7BC92A28D2-9E30-4149-24B7-8A40ED4F564B%7D&path=&method=init",
  ],
  ["https://a.example/ä b?q=a|b^c`d\\e#{f}", "https://a.example/%C3%A4%20b?q=a%7Cb%5Ec%60d%5Ce#%7Bf%7D"],
  ["https://a.example/100%?a=%7Bb%7D&c=%z", "https://a.example/100%25?a=%7Bb%7D&c=%25z"],
  ["http://[::1]:80/?a[]=1", "http://[::1]/?a[]=1"],
  ["javascript:alert(1)", undefined],
  ["no address", undefined],
  [null, undefined],
])("webAddress() makes a link a URI: %j", (text, address) => {
  expect(webAddress(text)).toBe(address);
});
