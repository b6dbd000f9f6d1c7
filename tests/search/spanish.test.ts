import { expect, test } from "bun:test";
import { isSpanish } from "../../src/search/spanish.ts";

test.each([
  ["subvenciones para pequeñas empresas", true],
  ["becas de investigación", true],
  ["fondos para agua potable en zonas rurales", true],
  ["Los Angeles transit", false],
  ["El Salvador de facto government", false],
  ["con artists", false],
  ["wildfire smoke", false],
])("%p is Spanish: %p", (question, expected) => {
  expect(isSpanish(question)).toBe(expected);
});
