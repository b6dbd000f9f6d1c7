/** Codes of a classification, in words. */

export const fundingActivities: Readonly<Record<string, string>> = {
  ACA: "Affordable Care Act",
  AG: "Agriculture",
  AR: "Arts",
  BC: "Business and Commerce",
  CD: "Community Development",
  CP: "Consumer Protection",
  DPR: "Disaster Prevention and Relief",
  ED: "Education",
  EIC: "Energy Infrastructure and Critical Mineral and Materials",
  ELT: "Employment, Labor and Training",
  EN: "Energy",
  ENV: "Environment",
  FN: "Food and Nutrition",
  HL: "Health",
  HO: "Housing",
  HU: "Humanities",
  IIJ: "Infrastructure Investment and Jobs Act",
  IS: "Information and Statistics",
  ISS: "Income Security and Social Services",
  LJL: "Law, Justice and Legal Services",
  NR: "Natural Resources",
  O: "Other",
  OZ: "Opportunity Zone Benefits",
  RA: "Recovery Act",
  RD: "Regional Development",
  RT: "Recreation and Tourism",
  ST: "Science and Technology and other Research and Development",
  T: "Transportation",
};

/** "Science and Technology and other Research and Development (FAC:ST)"; other codes as they are. */
export function taxonomyInWords(code: string): string {
  const activity = code.startsWith("FAC:") ? code.slice("FAC:".length) : "";
  return Object.hasOwn(fundingActivities, activity) ? `${fundingActivities[activity]} (${code})` : code;
}
