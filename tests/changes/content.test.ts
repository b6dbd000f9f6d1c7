/** The text that is compared, the document and the sidecar equal what JSON.stringify writes for each of them. */
import { expect, test } from "bun:test";
import { type Content, contentOf, contentOfWhole, documentOf, render, sidecarOf, wholeOfContent } from "../../src/changes/content.ts";
import type { Draft } from "../../src/import/format.ts";
import { validateRecord } from "../../src/import/validate.ts";
import { wholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { anOpportunity } from "../support/records.ts";

const id = "0b1a8e3c-5d5e-5f9a-8b2d-4c6e8f1a3b00";

/** Every field, with characters of one to four bytes and characters that JSON escapes, so that a wrong offset shows. */
const full: Partial<Draft> = {
  title: '“Quoted” \\ "title"',
  summary: "Zusammenfassung… 🛰️",
  description: "A\n\u001f<p>ü—𝄞</p>\u2028",
  status: 'öffen "…"',
  status_display: "…",
  organization: { agency: "Agençy", sub_agency: "…", issuing_office: '"' },
  program: { type: "GRANT", solicitation_id: "…", solicitation_title: "é", contract_class: "🛰️" },
  funding: { currency: "USD", amount_min: "1.00", amount_max: null, display: "€…" },
  dates: {
    posted_at: "2026-01-01T00:00:00-05:00",
    opens_at: "2026-01-02T00:00:00Z",
    closes_at: "2026-02-01T00:00:00.1234+02:00",
    response_at: null,
  },
  classifications: { keywords: ["…", '"'], naics_codes: ["1"] },
  eligibility: { requirements: "…", geographic_scope: null },
  contacts: [{ name: "…", email: null, phone: null, role: "é" }],
  relationships: { parent_id: null, canonical_id: id },
  attachments: [{ name: "…", url: "https://example.org/…" }],
  questions: [{ question: "…?", answer: null }],
  questions_read: true,
  agency_codes: ["…"],
  due_dates: [{ at: "2026-02-01T00:00:00+02:00", words: "é" }],
  expires_at: "2026-03-01T00:00:00Z",
  deadline_note: "é…",
  applicant_types: ["06"],
  place: { city: null, state: "PR", country: "…" },
  award: { number: "…", date: null, amount: "1.00", awardee: "é" },
};

test.each([
  ["with every field and a stated status", full, "stated"],
  ["with every field and a status from its dates", full, "dates"],
  ["with hardly any fields", {}, "dates"],
] as const)("render() gives the compared text, document and sidecar of a record %s", (_, fields, basis) => {
  const { content } = validateRecord(anOpportunity(fields), new Map());
  const { attachments, questions, deadline_note, ...more } = content;
  const { questions_read, agency_codes, due_dates, expires_at, applicant_types, place, award, ...rest } = more;
  const requirements = deadline_note === null ? content.eligibility.requirements : "…\nDeadline note: é…";
  const served = { ...rest, eligibility: { ...rest.eligibility, requirements } };
  const others = fields === full ? { questions_read, agency_codes, due_dates, expires_at, applicant_types, place, award } : {}; // Without a value: left out.
  const sidecar = { attachments, questions, ...others };
  const rendered = render(content, basis);

  const canonical = (date: string | null) => (date === null ? null : `${Date.parse(date)}.${/\.\d{3}(\d+)/.exec(date)?.[1] ?? ""}`);
  const { posted_at, opens_at, closes_at, response_at } = content.dates;
  const dates = [posted_at, opens_at, closes_at, response_at].map(canonical);
  const compared = JSON.stringify({ ...served, ...sidecar, status: basis === "dates" ? null : content.status, dates });
  expect(Buffer.from(rendered.text).toString()).toBe(compared);
  expect(Buffer.from(rendered.hash).toString("hex")).toBe(new Bun.CryptoHasher("sha256").update(compared).digest("hex"));

  const { status, status_display, relationships } = content;
  const stated = { id, status, status_display, dates: content.dates, relationships, createdAt: 0, updatedAt: 1 };
  const document = documentOf(rendered, stated);
  expect(document.toString()).toBe(JSON.stringify({ id, ...served, created_at: formatInstant(0), updated_at: formatInstant(1) }));
  expect(sidecarOf(rendered, content).toString()).toBe(JSON.stringify(sidecar));
  const linked: Content = { ...content, linked: ["canonical_id"] };
  expect(JSON.parse(sidecarOf(rendered, linked).toString())).toEqual({ ...sidecar, linked: ["canonical_id"] });
  expect(contentOf(rendered, content)).toEqual(content);
});

test("render() renders a damaged record that lacks a text, so that check can report its other faults", () => {
  const { content } = validateRecord(anOpportunity(), new Map());
  const damaged = { ...content, summary: undefined, status: undefined } as unknown as Content;
  const rendered = render(damaged, "stated");
  expect(JSON.parse(Buffer.from(rendered.text).toString())).toMatchObject({ summary: null, status: null });
  expect(JSON.parse(documentOf(rendered, { ...damaged, id, createdAt: 0, updatedAt: 1 }).toString())).toMatchObject({ status: null });
});

test("wholeOfContent() gives back the record whose content it gets, with all that is not served in its sidecar", () => {
  const stated = { stated: { status: "open", status_display: null }, status_until: "2026-03-01T00:00:00Z" };
  const content: Content = { ...validateRecord(anOpportunity(full), new Map()).content, ...stated, linked: ["parent_id"] };
  const rendered = render(content, "stated");
  const document = documentOf(rendered, { ...content, id, createdAt: 0, updatedAt: 1 });
  const record = wholeOpportunity({ document, sidecar: sidecarOf(rendered, content) });
  expect(record.sidecar).toMatchObject({ ...stated, linked: ["parent_id"] });
  expect(wholeOfContent(record, contentOfWhole(record))).toEqual(record);
});
