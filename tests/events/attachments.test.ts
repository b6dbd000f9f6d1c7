/** Attachments are dated by the events in which they came and went. */
import { expect, test } from "bun:test";
import { attachmentsInWords, datedAttachments } from "../../src/events/attachments.ts";

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
  const sized = { ...file("d"), kind: "Full Announcement", size: 7 };
  const history = [
    event("2026-01-01T00:00:00.000Z", [first, sized], [first, second]),
    event("2026-01-02T00:00:00.000Z", [first, second, third], [first]),
    event("2026-01-03T00:00:00.000Z", "x", [second], "title"),
    event("2026-01-04T00:00:00.000Z", [first], [renamed, second]),
  ];
  const { attachments, removed_attachments } = datedAttachments([renamed, file("b"), { name: "no address", url: null }], history);
  const unstated = { kind: null, size: null };
  expect(attachments).toEqual([
    { ...renamed, ...unstated, since: null },
    { ...file("b"), ...unstated, since: "2026-01-04T00:00:00.000Z" },
    { name: "no address", url: null, ...unstated, since: null },
  ]);
  expect(removed_attachments).toEqual([
    { ...file("c"), ...unstated, removed_at: "2026-01-02T00:00:00.000Z" },
    { ...sized, removed_at: "2026-01-01T00:00:00.000Z" },
  ]);
});

test.each([
  ["Full Announcement", 1_313_214, "Full Announcement, 1.3 MB"],
  [null, 999, "999 bytes"],
  [null, 11_500, "12 kB"],
  [null, 0, "0 bytes"],
  ["application/pdf", null, "application/pdf"],
  [null, null, ""],
])("an attachment of kind %p and size %p is about %p", (kind, size, about) => {
  const attachments = [{ name: null, url: "https://x/1", kind, size, since: null }];
  expect(attachmentsInWords({ attachments, removed_attachments: [] })).toEqual([
    { name: "https://x/1", url: "https://x/1", about, dated: "", isRemoved: false },
  ]);
});
