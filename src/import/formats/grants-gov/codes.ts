/** Grants.gov's codes with their labels. A code that is missing here is kept as it is, with a warning. */

export const GRANTS_GOV = "GRANTS_GOV";

export type Codes = Readonly<Record<string, string>>;

export const opportunityCategories: Codes = { D: "Discretionary", M: "Mandatory", C: "Continuation", E: "Earmark", O: "Other" };

export const fundingInstruments: Codes = { CA: "Cooperative Agreement", G: "Grant", PC: "Procurement Contract", O: "Other" };

export const applicantCodes: Codes = {
  "00": "State governments",
  "01": "County governments",
  "02": "City or township governments",
  "04": "Special district governments",
  "05": "Independent school districts",
  "06": "Public and State controlled institutions of higher education",
  "07": "Native American tribal governments (Federally recognized)",
  "08": "Public housing authorities/Indian housing authorities",
  "11": "Native American tribal organizations (other than Federally recognized tribal governments)",
  "12": "Nonprofits having a 501(c)(3) status with the IRS, other than institutions of higher education",
  "13": "Nonprofits without 501(c)(3) status with the IRS, other than institutions of higher education",
  "20": "Private institutions of higher education",
  "21": "Individuals",
  "22": "For-profit organizations other than small businesses",
  "23": "Small businesses",
  "25": 'Others (see text field entitled "Additional Information on Eligibility" for clarification)',
  "99": "Unrestricted",
};

/** A code with its label. An unknown code is its own label. */
export type Coded = { code: string; label: string };

/** The codes in texts with one or several of them. Warns of unknown ones. */
export function readCodes(texts: readonly string[], codes: Codes, what: string, warn: (message: string) => void): Coded[] {
  const found: Coded[] = [];
  for (const code of separated(texts)) {
    const label = labelOf(code, codes);
    if (label === undefined) warn(`Unknown ${what} "${code}" is kept as it is`);
    found.push({ code, label: label ?? code });
  }
  return found;
}

/** Undefined if unknown. A code may be any text, `constructor` too. */
export function labelOf(code: string, codes: Codes): string | undefined {
  return Object.hasOwn(codes, code) ? codes[code] : undefined;
}

function separated(texts: readonly string[]): readonly string[] {
  return texts.some((text) => /[\s,;]/.test(text))
    ? texts
        .join(" ")
        .split(/[\s,;]+/)
        .filter((code) => code !== "")
    : texts;
}

export function pageUrlOf(id: string): string {
  return `https://www.grants.gov/search-results-detail/${id}`;
}

/** The assistance listing numbers in texts with one or several of them. Warns of unusual ones. */
export function readListings(texts: readonly string[], warn: (message: string) => void): { number: string; title: string }[] {
  const found: { number: string; title: string }[] = [];
  for (const number of separated(texts)) {
    if (/^[0.]*$/.test(number)) continue; // Zeros mean none.
    if (!/^\d\d\.[A-Z0-9]{3}[A-Z]?$/i.test(number)) warn(`Unusual assistance listing number "${number}" is kept as it is`);
    found.push({ number, title: "" });
  }
  return found;
}
