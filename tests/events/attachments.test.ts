/** Attachments are dated by the events in which they appeared. */
import { expect, test } from "bun:test";
import { datedAttachments } from "../../src/events/attachments.ts";

const file = (name: string) => ({ name, url: `https://example.gov/${name}` });
const event = (detected_at: string, previous: unknown, current: unknown, field = "attachments") => ({
  id: "",
  opportunity_id: "",
  type: "attachments_changed",
  severity: "material",
  summary: null,
  changed_fields: [field],
  changes: [{ field, previous, current }],
  detected_at,
});

test("datedAttachments() gives the instant at which each appeared last, and null if it was there from the beginning", () => {
  const [first, second, third] = ["a", "b", "c"].map(file);
  const renamed = { ...first, name: "A", url: first?.url ?? null };
  const history = [
    event("2026-01-01T00:00:00.000Z", [first], [first, second]),
    event("2026-01-02T00:00:00.000Z", [first, second], [first]),
    event("2026-01-03T00:00:00.000Z", "x", [second], "title"),
    event("2026-01-04T00:00:00.000Z", [first], [renamed, second, third]),
  ];
  const dated = datedAttachments([renamed, file("b"), file("c"), { name: "no address", url: null }], history);
  expect(dated.map(({ name, since }) => [name, since])).toEqual([
    ["A", null],
    ["b", "2026-01-04T00:00:00.000Z"],
    ["c", "2026-01-04T00:00:00.000Z"],
    ["no address", null],
  ]);
});
