/** @jsxImportSource hono/jsx */
/** The fields of an opportunity as lists of facts. What is not stated is left out. */
import type { Child } from "hono/jsx";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { dateInWords } from "../text/date-in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { plainText } from "../text/plain-text.ts";
import { addressOf } from "./addresses.ts";
import { awardsInWords, cutText, Fact } from "./marks.tsx";
import { Exact, Relative } from "./times.tsx";

/** Characters of a fact, and items of a list. */
const [FACT_MAX, ITEMS_MAX] = [3000, 100];

/** What a reader looks for first: who offers it and whom to ask, what it offers, and who won. */
export function KeyFacts({ opportunity: { organization, program, funding, contacts, sidecar } }: { opportunity: WholeOpportunity }) {
  const { award } = sidecar;
  return (
    <>
      <FactList title="Who offers it">
        <FactText name="Agency" text={organization.agency} filter="agency" />
        <FactText name="Sub-agency" text={organization.sub_agency} filter="agency" />
        <FactText name="Office" text={organization.issuing_office} />
        {contacts.slice(0, ITEMS_MAX).map((contact, n) => (
          <FactText key={n} name="Contact" text={[contact.name, contact.role, contact.email, contact.phone].filter(Boolean).join(", ")} />
        ))}
      </FactList>
      <FactList title="What it offers">
        <FactText name="Awards" text={awardsInWords(funding) ?? null} />
        <FactText name="Funding" text={funding?.display ?? null} />
        <FactText name="Program type" text={program.type} filter="program_type" />
        <FactText name="Kind" text={program.contract_class} />
        <FactText name="Solicitation" text={program.solicitation_id} />
        <FactText name="Solicitation title" text={program.solicitation_title} />
      </FactList>
      {award !== null && (
        <FactList title="Who won">
          <FactText name="Awardee" text={award.awardee} />
          <FactText name="Award" text={award.number} />
          <FactText name="Awarded" text={award.date && dateInWords(award.date)} />
        </FactList>
      )}
    </>
  );
}

/** For whom it is, its codes, and the record. */
export function OtherFacts({ opportunity, now }: { opportunity: WholeOpportunity; now: EpochMs }) {
  const { classifications, eligibility, source, id, created_at, updated_at } = opportunity;
  return (
    <>
      <FactList title="For whom">
        <FactText name="Place" text={eligibility.geographic_scope} />
        <FactCodes name="Set-aside" codes={classifications.set_aside_types} filter="set_aside" />
        <FactCodes name="NAICS" codes={classifications.naics_codes} filter="naics" />
        <FactCodes name="Other codes" codes={classifications.tech_taxonomy} />
        <FactCodes name="Technology areas" codes={classifications.technology_areas} />
        <FactCodes name="Keywords" codes={classifications.keywords} />
      </FactList>
      <FactList title="Record">
        <FactText name="Source" text={`${source.name} (${source.code})`} filter="source" value={source.code} />
        <FactText name="Id at the source" text={source.opportunity_id} />
        <FactText name="Address at the source" text={source.url} />
        <FactText name="Id" text={id} />
        <Fact name="Last change here">
          <Relative at={updated_at} now={now} />, <Exact at={updated_at} />
        </Fact>
        <Fact name="First stored">
          <Exact at={created_at} />
        </Fact>
      </FactList>
    </>
  );
}

function FactList({ title, children }: { title: string; children: Child }) {
  return (
    <section class="fact-list">
      <h2>{title}</h2>
      <dl>{children}</dl>
    </section>
  );
}

/** `filter` is the filter that finds other opportunities with such a value. */
type LinkProps = { name: string; filter?: string };
type TextProps = LinkProps & { text: string | null; value?: string | null };

/** A text, which leads to the opportunities with the same value if a filter finds them. */
function FactText({ name, text, filter, value = text }: TextProps) {
  const plain = cutText(plainText(text ?? ""), FACT_MAX);
  return plain === "" ? null : (
    <Fact name={name}>{filter === undefined ? plain : <FilterLink filter={filter} value={value ?? ""} text={plain} />}</Fact>
  );
}

function FilterLink({ filter, value, text }: { filter: string; value: string; text: string }) {
  return <a href={addressOf("/", { [filter]: value.slice(0, 200) })}>{text}</a>;
}

function FactCodes({ name, codes, filter }: LinkProps & { codes: readonly string[] }) {
  if (codes.length === 0) return null;
  const shown = codes.slice(0, ITEMS_MAX);
  return (
    <Fact name={name}>
      <ul class="codes">
        {shown.map((code) => (
          <li key={code}>
            {filter === undefined ? cutText(code, 200) : <FilterLink filter={filter} value={code} text={cutText(code, 200)} />}
          </li>
        ))}
        {codes.length > shown.length && <li class="quiet">{codes.length - shown.length} more</li>}
      </ul>
    </Fact>
  );
}
