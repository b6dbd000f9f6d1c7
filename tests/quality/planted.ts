/** A record in which nothing is wrong, and a fault for each rule of the report on the data. */
import type { Draft } from "../../src/import/format.ts";
import { DAY, NOON } from "../support/imports.ts";

export const at = (days: number) => new Date(NOON + days * DAY).toISOString();

/** A record in which nothing is wrong. */
export function clean(n = 0): Draft {
  return {
    source: { code: "OWN", opportunity_id: `N${n}`, url: "https://example.org/1" },
    title: "Test and Evaluation of Sensors & Radios <1 GHz",
    summary: "Déjà vu – “quoted”",
    status: "open",
    organization: { agency: "National Science Foundation" },
    program: { solicitation_id: `W-${n}`, contract_class: "Solicitation" },
    funding: { currency: "USD", amount_min: "1000", amount_max: "20000.50", display: null },
    dates: { posted_at: at(-3), opens_at: at(-2), closes_at: at(30), response_at: at(9) },
    classifications: { naics_codes: ["541715", "54"] },
    contacts: [{ name: "Desk", email: "desk@example.org", phone: null, role: null }],
  } as Draft;
}

export const dates = (changed: object) => ({ dates: { ...clean().dates, ...changed } }) as Partial<Draft>;
export const funding = (changed: object) => ({ funding: { ...clean().funding, ...changed } }) as Partial<Draft>;

/** A fault for each rule. */
export const planted: Readonly<Record<string, Partial<Draft>>> = {
  empty_title: { title: "…" },
  test_record: { title: "TEST - please ignore" },
  markup_in_title: { title: "Sensors &amp; radios" },
  broken_text: { summary: "The agencyâ€™s call" },
  unknown_status: { status: "paused" },
  unknown_agency: { organization: { agency: "Ministry of Silly Walks" } } as Partial<Draft>,
  past_due: { status: "forecast", ...dates({ opens_at: null, closes_at: at(-1), response_at: null }) },
  due_before_posted: { status: "closed", ...dates({ posted_at: at(-3), opens_at: null, closes_at: at(-4), response_at: null }) },
  closes_before_opens: dates({ opens_at: at(40), response_at: null, closes_at: at(30) }),
  due_after_expiry: { due_dates: [9, 30].map((days) => ({ at: at(days), words: null })), expires_at: at(20) },
  posted_ahead: dates({ posted_at: at(3), opens_at: null }),
  far_date: dates({ closes_at: at(3700) }),
  early_date: dates({ posted_at: "1970-01-01T00:00:00Z" }),
  min_over_max: funding({ amount_min: "30000" }),
  negative_amount: funding({ amount_min: "-1" }),
  web_address: { source: { code: "OWN", opportunity_id: "N1", url: "www.example.org" } } as Partial<Draft>,
  email_address: { contacts: [{ name: null, email: "see the notice", phone: null, role: null }] } as Partial<Draft>,
  naics_code: { classifications: { naics_codes: ["541715 ", "5417151"] } } as Partial<Draft>,
};
