/** The sample of the demo: real published files, embedded in the program (see `demo-sample/PROVENANCE.tsv`). */
import challengeGov20210601T150238Z from "./demo-sample/challenge-gov-20210601T150238Z.json.gz" with { type: "file" };
import challengeGov20210624T124546Z from "./demo-sample/challenge-gov-20210624T124546Z.json.gz" with { type: "file" };
import challengeGov20210708T012227Z from "./demo-sample/challenge-gov-20210708T012227Z.json.gz" with { type: "file" };
import challengeGov20210714T202743Z from "./demo-sample/challenge-gov-20210714T202743Z.json.gz" with { type: "file" };
import darpa20260905 from "./demo-sample/darpa-20260905.json.gz" with { type: "file" };
import dsip2026 from "./demo-sample/dsip-2026.json.gz" with { type: "file" };
import grantsGov20250821 from "./demo-sample/grants-gov-20250821.xml.gz" with { type: "file" };
import grantsGov20260726 from "./demo-sample/grants-gov-20260726.xml.gz" with { type: "file" };
import grantsGov20260803 from "./demo-sample/grants-gov-20260803.xml.gz" with { type: "file" };
import nasaNspires20260921 from "./demo-sample/nasa-nspires-20260921.json.gz" with { type: "file" };
import nasaNspires20261005 from "./demo-sample/nasa-nspires-20261005.json.gz" with { type: "file" };
import nasaRoses2025 from "./demo-sample/nasa-roses-2025.html.gz" with { type: "file" };
import nsf20250717 from "./demo-sample/nsf-20250717.csv.gz" with { type: "file" };
import samGov20260308 from "./demo-sample/sam-gov-20260308.json.gz" with { type: "file" };
import samGov20260322 from "./demo-sample/sam-gov-20260322.json.gz" with { type: "file" };
import samGovPage20260921 from "./demo-sample/sam-gov-page-20260921.json.gz" with { type: "file" };
import samGovPage20260923 from "./demo-sample/sam-gov-page-20260923.json.gz" with { type: "file" };
import sbirGov20250912 from "./demo-sample/sbir-gov-20250912.json.gz" with { type: "file" };
import sbirGov20250914 from "./demo-sample/sbir-gov-20250914.json.gz" with { type: "file" };
import simplerGrantsGov20260617 from "./demo-sample/simpler-grants-gov-20260617.csv.gz" with { type: "file" };

type SampleFile = { format: string; file: string; asOf: string; snapshot: boolean };

export const sample: readonly SampleFile[] = [
  { format: "challenge-gov", file: challengeGov20210601T150238Z, asOf: "2021-06-01T15:02:38Z", snapshot: true },
  { format: "challenge-gov", file: challengeGov20210624T124546Z, asOf: "2021-06-24T12:45:46Z", snapshot: true },
  { format: "challenge-gov", file: challengeGov20210708T012227Z, asOf: "2021-07-08T01:22:27Z", snapshot: true },
  { format: "challenge-gov", file: challengeGov20210714T202743Z, asOf: "2021-07-14T20:27:43Z", snapshot: true },
  { format: "nsf", file: nsf20250717, asOf: "2025-07-17T12:00:00Z", snapshot: false },
  { format: "grants-gov", file: grantsGov20250821, asOf: "2025-08-21T08:00:00Z", snapshot: false },
  { format: "sbir-gov", file: sbirGov20250912, asOf: "2025-09-12T23:08:13Z", snapshot: false },
  { format: "sbir-gov", file: sbirGov20250914, asOf: "2025-09-14T23:22:17Z", snapshot: false },
  { format: "sam-gov", file: samGov20260308, asOf: "2026-03-08T12:03:09Z", snapshot: false },
  { format: "sam-gov", file: samGov20260322, asOf: "2026-03-22T12:03:22Z", snapshot: false },
  { format: "dsip", file: dsip2026, asOf: "2026-03-25T19:06:06Z", snapshot: false },
  { format: "simpler-grants-gov", file: simplerGrantsGov20260617, asOf: "2026-06-18T00:45:33Z", snapshot: false },
  { format: "grants-gov", file: grantsGov20260726, asOf: "2026-07-26T13:40:14Z", snapshot: false },
  { format: "grants-gov", file: grantsGov20260803, asOf: "2026-08-03T13:24:12Z", snapshot: false },
  { format: "nasa-roses", file: nasaRoses2025, asOf: "2026-08-17T12:00:00Z", snapshot: false },
  { format: "darpa", file: darpa20260905, asOf: "2026-09-05T12:00:00Z", snapshot: false },
  { format: "nasa-nspires", file: nasaNspires20260921, asOf: "2026-09-21T12:00:00Z", snapshot: false },
  { format: "sam-gov", file: samGovPage20260921, asOf: "2026-09-21T21:00:00Z", snapshot: false },
  { format: "sam-gov", file: samGovPage20260923, asOf: "2026-09-23T12:00:00Z", snapshot: false },
  { format: "nasa-nspires", file: nasaNspires20261005, asOf: "2026-10-05T12:00:00Z", snapshot: false },
];
