/** A model of the list: it keeps every record in an array, and looks through all of them for each page. */
import { expect } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { type ListFilter, listOpportunities } from "../../src/opportunities/list.ts";
import type { Position } from "../../src/opportunities/page.ts";
import type { ReadModel } from "../../src/opportunities/read-model.ts";
import { exportOf } from "./imports.ts";
import { rawSql } from "./sql.ts";

type Listed = {
  id: string;
  updated_at: string;
  status: string;
  source: { code: string; opportunity_id: string };
  organization: { agency: string | null };
  program: { type: string | null };
};

export type ListedRecord = Listed & { time: number; upstreamIds: string[] };

export class ListModel {
  private readonly times: ReadonlyMap<string, number>;

  private constructor(
    /** Newest first. */
    readonly records: readonly ListedRecord[],
    private readonly namedSources: ReadonlySet<string>,
  ) {
    this.times = new Map(records.map(({ id, time }) => [id, time]));
  }

  static async read(db: CatalogDb): Promise<ListModel> {
    const records = (await exportOf(db)).map((line): ListedRecord => {
      const { id, updated_at, status, source, organization, program, earlier_ids } = JSON.parse(line);
      const upstreamIds = [source.opportunity_id, ...earlier_ids];
      return { id, updated_at, status, source, organization, program, upstreamIds, time: Date.parse(updated_at) };
    });
    records.sort((left, right) => right.time - left.time || (left.id < right.id ? 1 : -1));
    const sources = await db.all(rawSql<{ code: string }>("select code from sources"));
    return new ListModel(records, new Set(sources.map(({ code }) => code)));
  }

  /** Whether a record of another model has not changed, and so has not moved in the list. */
  has({ id, time }: ListedRecord): boolean {
    return this.times.get(id) === time;
  }

  matching(filter: ListFilter): ListedRecord[] {
    return this.records.filter((record) => this.matches(record, filter));
  }

  /** The page that `listOpportunities` must return: ids in order, and where the next page starts. */
  page(filter: ListFilter, limit: number, after: Position | null): { ids: string[]; next: Position | null } {
    const rest = this.matching(filter).filter((record) => after === null || isAfter(record, after));
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return { ids: page.map(({ id }) => id), next: rest.length > limit && last !== undefined ? positionOf(last) : null };
  }

  private matches(record: ListedRecord, filter: ListFilter): boolean {
    const { status, source, agency, program_type, updated_since, source_opportunity_id } = filter;
    const isOther = !this.namedSources.has(record.source.code);
    if (status !== undefined && !status.includes(record.status)) return false;
    if (source !== undefined && !source.some((code) => code === record.source.code || (code === "OTHER" && isOther))) return false;
    if (agency !== undefined && !record.organization.agency?.toLowerCase().includes(agency.toLowerCase())) return false;
    if (program_type !== undefined && !(record.program.type !== null && program_type.includes(record.program.type))) return false;
    if (source_opportunity_id !== undefined && !record.upstreamIds.includes(source_opportunity_id)) return false;
    return updated_since === undefined || record.time > updated_since.ms;
  }
}

/** A client that reads a list page by page while records change. */
export class Walk {
  private readonly seen: string[] = [];
  private readonly started: readonly ListedRecord[];
  private next: Position | null = { time: Number.MAX_SAFE_INTEGER, id: "" };

  constructor(
    model: ListModel,
    private readonly filter: ListFilter,
    private readonly limit: number,
  ) {
    this.started = model.matching(filter);
  }

  get isFinished(): boolean {
    return this.next === null;
  }

  async readPage(readModel: ReadModel): Promise<void> {
    const { documents, next } = await listOpportunities(readModel, this.filter, this.limit, this.next);
    this.seen.push(...idsOf(documents));
    this.next = next;
  }

  /** How many records have changed since the walk began, and so moved in the list. */
  movedIn(model: ListModel): number {
    return this.started.length - this.unmovedIn(model).length;
  }

  /** Fails if the walk missed a record that did not move, or returned one twice. */
  expectComplete(model: ListModel, seed: number): void {
    const missed = this.unmovedIn(model).filter(({ id }) => !this.seen.includes(id));
    const sourcesMayDiffer = this.filter.source?.includes("OTHER") === true; // Sources may have been named meanwhile.
    if (!sourcesMayDiffer) expect({ seed, missed }).toEqual({ seed, missed: [] });
    expect(new Set(this.seen).size).toBe(this.seen.length);
  }

  private unmovedIn(model: ListModel): ListedRecord[] {
    return this.started.filter((record) => model.has(record));
  }
}

export function idsOf(documents: readonly Uint8Array[]): string[] {
  return documents.map((document) => (JSON.parse(Buffer.from(document).toString()) as Listed).id);
}

export function positionOf({ time, id }: ListedRecord): Position {
  return { time, id };
}

function isAfter(record: ListedRecord, { time, id }: Position): boolean {
  return record.time < time || (record.time === time && record.id < id);
}
