/** NASA: the list of open solicitations of NSPIRES, and the table of the newest ROSES. */
import { readFile, rm } from "node:fs/promises";
import { Failure } from "../../db/reason.ts";
import { TEXT_MAX } from "../import/readers/input.ts";
import { easternDate } from "../text/eastern.ts";
import { publicUrl } from "../text/request-failure.ts";
import type { DownloadRequest } from "./download.ts";
import { type Fetched, fetchFile, fetchKnownFile, jsonAt, type Visit } from "./visit.ts";

const JSON_TYPES = ["application/json", "text/json", "text/plain", "text/html"];

/** The request for the list. Its page is visited first, because the list needs a session. */
export async function solicitationsAt(visit: Visit): Promise<DownloadRequest> {
  const page = { url: new URL("solicitations.do?method=init", visit.base), types: ["text/html"], bytesMax: TEXT_MAX };
  const session = await fetchFile(visit, "solicitations.html", page);
  if (session.outcome === "saved") await rm(session.path);
  const cookies = session.outcome === "saved" ? session.cookies : "";
  return { ...jsonAt(visit, "solicitationsJSON.do?path=open"), types: JSON_TYPES, cookies };
}

/** The table of the newest year that has one, or `undefined` if unchanged. A year's ROSES opens in its course, and stays open after it. */
export async function fetchRoses(visit: Visit): Promise<Fetched | undefined> {
  const thisYear = Number(easternDate(visit.net.now()).slice(0, 4));
  for (const year of [thisYear, thisYear - 1]) {
    const url = new URL(`ROSES${year}table3`, visit.base);
    const fetched = await fetchKnownFile(visit, `ROSES${year}table3.html`, { url, types: ["text/html"], bytesMax: TEXT_MAX });
    if (fetched === undefined) return undefined;
    if (fetched === "missing") continue;
    const [path = ""] = fetched.files;
    if (/\bROSES-20\d\d\b/.test(await readFile(path, "latin1"))) return fetched;
    await rm(path); // The page of a short link that does not exist yet.
  }
  throw new Failure(`Cannot find a table of ROSES-${thisYear} or ROSES-${thisYear - 1} at ${publicUrl(visit.base)}`);
}
