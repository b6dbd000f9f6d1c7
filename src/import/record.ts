/** A draft: an opportunity as a format or a line of `import records` describes it. Absent fields are left out. */
export type Draft = {
  source: { code: string; name?: string | null; opportunity_id: string; url?: string | null };
  title: string;
  summary?: string | null;
  description?: string | null;
  /** If absent, the status follows from the dates (D-37). */
  status?: string | null;
  status_display?: string | null;
  /** Until when the status holds; afterwards it follows from the dates. If absent, it holds until an import states another one. */
  status_until?: string | null;
  /** From when on the record is archived. */
  archives_at?: string | null;
  /** The source's statement, for a stored record with one of these two fields. `status` and `status_display` are then the current values. */
  stated?: { status: string | null; status_display: string | null };
  organization?: { agency?: string | null; sub_agency?: string | null; issuing_office?: string | null };
  program?: { type?: string | null; solicitation_id?: string | null; solicitation_title?: string | null; contract_class?: string | null };
  /** Amounts are decimal strings. */
  funding?: { currency?: "USD"; amount_min?: string | null; amount_max?: string | null; display?: string | null } | null;
  /** RFC 3339 with the upstream's own offset (D-28). */
  dates?: { posted_at?: string | null; opens_at?: string | null; closes_at?: string | null; response_at?: string | null };
  classifications?: {
    keywords?: string[];
    technology_areas?: string[];
    tech_taxonomy?: string[];
    naics_codes?: string[];
    set_aside_types?: string[];
  };
  eligibility?: { requirements?: string | null; geographic_scope?: string | null };
  contacts?: { name?: string | null; email?: string | null; phone?: string | null; role?: string | null }[];
  relationships?: { parent_id?: string | null; canonical_id?: string | null };
  /** Stays the same across amendments. If absent, it is the upstream id (D-30). */
  lineage?: string;
  earlier_ids?: string[];
  /** `kind` is the upstream's word for what it is, `size` its bytes. */
  attachments?: { name?: string | null; url?: string | null; kind?: string | null; size?: number | null }[];
  questions?: { question?: string | null; answer?: string | null }[];
  /** Set if this layout has the questions, or says that there are none, and other layouts of the upstream do not. */
  questions_read?: true | null;
  /** The upstream's own codes of the agency. */
  agency_codes?: string[];
  /** All due dates that the upstream lists, in its order and words. */
  due_dates?: { at: string; words?: string | null }[];
  /** When the announcement expires, if the upstream also lists due dates. */
  expires_at?: string | null;
  /** What the upstream says about the deadline, in words. */
  deadline_note?: string | null;
  /** The upstream's codes of who may apply. */
  applicant_types?: string[];
  /** Place of performance. */
  place?: { city?: string | null; state?: string | null; country?: string | null } | null;
  /** The award that the upstream states. The amount is a decimal string. */
  award?: { number?: string | null; date?: string | null; amount?: string | null; awardee?: string | null } | null;
};
