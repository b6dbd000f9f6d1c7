/** Places of performance: US states and countries, by code and name. Two letters are a US state before they are a country. */
import type { Sidecar } from "../opportunities/opportunity.ts";
import { fold } from "../text/fold.ts";

const states: Readonly<Record<string, string>> = {
  AL: "Alabama",
  AK: "Alaska",
  AZ: "Arizona",
  AR: "Arkansas",
  CA: "California",
  CO: "Colorado",
  CT: "Connecticut",
  DE: "Delaware",
  DC: "District of Columbia",
  FL: "Florida",
  GA: "Georgia",
  HI: "Hawaii",
  ID: "Idaho",
  IL: "Illinois",
  IN: "Indiana",
  IA: "Iowa",
  KS: "Kansas",
  KY: "Kentucky",
  LA: "Louisiana",
  ME: "Maine",
  MD: "Maryland",
  MA: "Massachusetts",
  MI: "Michigan",
  MN: "Minnesota",
  MS: "Mississippi",
  MO: "Missouri",
  MT: "Montana",
  NE: "Nebraska",
  NV: "Nevada",
  NH: "New Hampshire",
  NJ: "New Jersey",
  NM: "New Mexico",
  NY: "New York",
  NC: "North Carolina",
  ND: "North Dakota",
  OH: "Ohio",
  OK: "Oklahoma",
  OR: "Oregon",
  PA: "Pennsylvania",
  RI: "Rhode Island",
  SC: "South Carolina",
  SD: "South Dakota",
  TN: "Tennessee",
  TX: "Texas",
  UT: "Utah",
  VT: "Vermont",
  VA: "Virginia",
  WA: "Washington",
  WV: "West Virginia",
  WI: "Wisconsin",
  WY: "Wyoming",
  PR: "Puerto Rico",
  GU: "Guam",
  VI: "U.S. Virgin Islands",
  AS: "American Samoa",
  MP: "Northern Mariana Islands",
};

/** The three letters of ISO 3166-1, which are published, and the two by which the runtime knows names. */
const COUNTRIES = `
ABWAW AFGAF AGOAO AIAAI ALAAX ALBAL ANDAD AREAE ARGAR ARMAM ASMAS ATAAQ ATFTF ATGAG AUSAU AUTAT AZEAZ BDIBI BELBE BENBJ BESBQ BFABF
BGDBD BGRBG BHRBH BHSBS BIHBA BLMBL BLRBY BLZBZ BMUBM BOLBO BRABR BRBBB BRNBN BTNBT BVTBV BWABW CAFCF CANCA CCKCC CHECH CHLCL CHNCN
CIVCI CMRCM CODCD COGCG COKCK COLCO COMKM CPVCV CRICR CUBCU CUWCW CXRCX CYMKY CYPCY CZECZ DEUDE DJIDJ DMADM DNKDK DOMDO DZADZ ECUEC
EGYEG ERIER ESHEH ESPES ESTEE ETHET FINFI FJIFJ FLKFK FRAFR FROFO FSMFM GABGA GBRGB GEOGE GGYGG GHAGH GIBGI GINGN GLPGP GMBGM GNBGW
GNQGQ GRCGR GRDGD GRLGL GTMGT GUFGF GUMGU GUYGY HKGHK HMDHM HNDHN HRVHR HTIHT HUNHU IDNID IMNIM INDIN IOTIO IRLIE IRNIR IRQIQ ISLIS
ISRIL ITAIT JAMJM JEYJE JORJO JPNJP KAZKZ KENKE KGZKG KHMKH KIRKI KNAKN KORKR KWTKW LAOLA LBNLB LBRLR LBYLY LCALC LIELI LKALK LSOLS
LTULT LUXLU LVALV MACMO MAFMF MARMA MCOMC MDAMD MDGMG MDVMV MEXMX MHLMH MKDMK MLIML MLTMT MMRMM MNEME MNGMN MNPMP MOZMZ MRTMR MSRMS
MTQMQ MUSMU MWIMW MYSMY MYTYT NAMNA NCLNC NERNE NFKNF NGANG NICNI NIUNU NLDNL NORNO NPLNP NRUNR NZLNZ OMNOM PAKPK PANPA PCNPN PERPE
PHLPH PLWPW PNGPG POLPL PRIPR PRKKP PRTPT PRYPY PSEPS PYFPF QATQA REURE ROURO RUSRU RWARW SAUSA SDNSD SENSN SGPSG SGSGS SHNSH SJMSJ
SLBSB SLESL SLVSV SMRSM SOMSO SPMPM SRBRS SSDSS STPST SURSR SVKSK SVNSI SWESE SWZSZ SXMSX SYCSC SYRSY TCATC TCDTD TGOTG THATH TJKTJ
TKLTK TKMTM TLSTL TONTO TTOTT TUNTN TURTR TUVTV TWNTW TZATZ UGAUG UKRUA UMIUM URYUY USAUS UZBUZ VATVA VCTVC VENVE VGBVG VIRVI VNMVN
VUTVU WLFWF WSMWS YEMYE ZAFZA ZMBZM ZWEZW
`;

let made: ReturnType<typeof makeTables> | undefined;

/** Made at the first use: most starts of the program need no country. */
function tables() {
  made ??= makeTables();
  return made;
}

function makeTables() {
  const region = new Intl.DisplayNames(["en"], { type: "region" });
  const countries = COUNTRIES.trim()
    .split(/\s+/)
    .map((codes) => ({ code: codes.slice(0, 3), short: codes.slice(3) }))
    .map(({ code, short }) => ({ code, short, name: region.of(short) ?? code }));
  return {
    names: new Map([...countries.map(({ code, name }) => [code, name] as const), ...Object.entries(states)]),
    stateCodes: new Map(Object.entries(states).flatMap(([code, name]) => [code, name].map((each) => [fold(each), code] as const))),
    /** Puerto Rico is published as a state or as a country. Here it is a state. */
    countryCodes: new Map(
      countries.flatMap(({ code, short, name }) =>
        [code, short, name].map((each) => [fold(each), states[short] === name ? short : code] as const),
      ),
    ),
  };
}

export const stateNames: readonly string[] = Object.values(states);

/** The names of all states and countries. */
export function namedPlaces(): string[] {
  return [...new Set(tables().names.values())];
}

/** The code of a US state or a country that a person names. States come first: `DE` is Delaware, and Germany is `DEU`. */
export function placeCode(text: string): string | undefined {
  const folded = fold(text.trim());
  return tables().stateCodes.get(folded) ?? tables().countryCodes.get(folded);
}

/** The name of a code. */
export function nameOfPlace(code: string): string {
  return tables().names.get(code) ?? code;
}

/** The codes of a place: of its state, if that is in the United States, and of its country. */
export function placeCodes(place: Sidecar["place"]): string[] {
  const { stateCodes, countryCodes } = tables();
  const [state, country] = [place?.state, place?.country].map((text) => fold(text ?? "").trim());
  const countryCode = countryCodes.get(country ?? "");
  const stateCode = country === "" || countryCode === "USA" ? stateCodes.get(state ?? "") : undefined;
  return [stateCode, countryCode ?? (stateCode && "USA")].filter((code) => code !== undefined);
}
