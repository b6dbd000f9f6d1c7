/** Parquet files, one for each view of docs/reference/sql.md and with its columns. They get their names when all of them are complete. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, type SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { datedAttachments } from "../events/attachments.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { type ColumnType, type FlatOpportunity, valueIn } from "../facts/columns.ts";
import { type WholeOpportunity, withoutSidecar } from "../opportunities/opportunity.ts";
import { partialPath } from "../runtime/left-behind.ts";
import { putInPlace, targetOf } from "../runtime/replace-file.ts";
import { ofOpportunityNames, opportunityView } from "../sql/tables.ts";
import { DAY_MS, parseInstantMs } from "../text/instant.ts";
import { plainText } from "../text/plain-text.ts";

/** A row group stays in memory until it is written. It ends after this many rows or characters. */
const [GROUP_ROWS, GROUP_LENGTH] = [50_000, 8_000_000];
/** The digits of a decimal, and how many of them are after the point. */
const [PRECISION, SCALE] = [38, 4];

type Columns = readonly (readonly [name: string, type: ColumnType])[];
type Values = readonly unknown[];
type Table = { columns: Columns; rows: (opportunity: FlatOpportunity, history: readonly OpportunityEvent[]) => Iterable<Values> };

const texts = (...names: string[]): Columns => names.map((name) => [name, "text"]);

function ofOpportunity({ columns, rows }: Table): Table {
  const shared = Object.entries(opportunityView).filter(([name]) => ofOpportunityNames.includes(name));
  shared.sort(([a], [b]) => ofOpportunityNames.indexOf(a) - ofOpportunityNames.indexOf(b));
  return {
    columns: [...columns, ...shared.map(([name, { type }]) => [name, type] as const)],
    rows: (opportunity, history) => {
      const values = shared.map(([, column]) => valueIn(opportunity, column));
      return Iterator.from(rows(opportunity, history)).map((own) => [...own, ...values]);
    },
  };
}

const tables: Readonly<Record<string, Table>> = {
  opportunities: {
    columns: Object.entries(opportunityView).map(([name, { type }]) => [name, type]),
    rows: (opportunity) => {
      const served = { ...withoutSidecar(opportunity), sidecar: opportunity.sidecar, due: opportunity.due };
      return [Object.values(opportunityView).map((column) => valueIn(served, column))];
    },
  },
  contacts: ofOpportunity({
    columns: texts("opportunity_id", "name", "role", "email", "phone"),
    rows: ({ id, contacts }) => contacts.map(({ name, role, email, phone }) => [id, name, role, email, phone]),
  }),
  classifications: ofOpportunity({
    columns: texts("opportunity_id", "scheme", "code"),
    rows: ({ id, classifications }) => codesOf(classifications).map(([scheme, code]) => [id, scheme, code]),
  }),
  documents: ofOpportunity({
    columns: [
      ...texts("opportunity_id", "name", "kind"),
      ["size", "integer"],
      ["url", "text"],
      ["since", "instant"],
      ["removed_at", "instant"],
    ],
    rows: ({ id, sidecar }, history) => {
      const { attachments, removed_attachments } = datedAttachments(sidecar.attachments, history);
      return [
        ...attachments.map(({ name, kind, size, url, since }) => [id, name, kind, size, url, since, null]),
        ...removed_attachments.map(({ name, kind, size, url, removed_at }) => [id, name, kind, size, url, null, removed_at]),
      ];
    },
  }),
  events: ofOpportunity({
    columns: [...texts("id", "opportunity_id"), ["detected_at", "instant"], ...texts("type", "severity", "summary")],
    rows: (_, history) =>
      history.map((event) => [event.id, event.opportunity_id, event.detected_at, event.type, event.severity, event.summary]),
  }),
  changes: ofOpportunity({
    columns: [
      ...texts("event_id", "opportunity_id"),
      ["detected_at", "instant"],
      ...texts("type", "severity", "field", "previous", "current"),
    ],
    rows: (_, history) =>
      history.flatMap(({ id, opportunity_id, detected_at, type, severity, changes }) =>
        changes.map(({ field, previous, current }) => [
          ...[id, opportunity_id, detected_at, type, severity, field],
          ...[jsonText(previous), jsonText(current)],
        ]),
      ),
  }),
};

function codesOf(given: WholeOpportunity["classifications"]): Values[] {
  const codes = [
    ...given.naics_codes.map((code) => ["naics", code]),
    ...given.set_aside_types.map((code) => ["set_aside", code]),
    ...given.keywords.map((code) => ["keyword", code]),
    ...given.technology_areas.map((code) => ["technology_area", code]),
    ...given.tech_taxonomy.flatMap((text) => {
      const at = text.indexOf(":");
      return at < 0 ? [] : [[text.slice(0, at).toLowerCase(), text.slice(at + 1)]];
    }),
  ];
  return [...new Map(codes.map((pair) => [pair.join("\0"), pair])).values()];
}

function jsonText(value: unknown): unknown {
  return typeof value === "string" || value === null || value === undefined ? value : JSON.stringify(value);
}

const stored: Readonly<Record<ColumnType, (value: string) => unknown>> = {
  text: (text) => text,
  "plain text": plainText,
  instant: (text) => {
    const ms = parseInstantMs(text);
    return ms === undefined ? undefined : BigInt(ms);
  },
  day: (text) => Date.parse(`${text.slice(0, 10)}T00:00:00Z`) / DAY_MS,
  decimal: unscaled,
  integer: BigInt,
  list: (items) => items,
};

/** The whole number of which a decimal is the 10,000th part; `undefined` if it has more digits than a column takes. */
function unscaled(amount: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)0*(\d+)(?:\.(\d*?)0*)?$/.exec(amount) ?? [];
  if (whole === "" || whole.length > PRECISION - SCALE || fraction.length > SCALE) return undefined;
  return BigInt(`${sign}${whole}${fraction.padEnd(SCALE, "0")}`);
}

const UTF8 = { type: "BYTE_ARRAY", converted_type: "UTF8" } as const;

const elements: Readonly<Record<Exclude<ColumnType, "list">, Partial<SchemaElement>>> = {
  text: UTF8,
  "plain text": UTF8,
  instant: {
    ...{ type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
  day: { type: "INT32", converted_type: "DATE" },
  decimal: { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, converted_type: "DECIMAL", precision: PRECISION, scale: SCALE },
  integer: { type: "INT64" },
};

function schemaOf(columns: Columns): SchemaElement[] {
  const of = columns.flatMap(([name, type]): SchemaElement[] => {
    if (type !== "list") return [{ ...elements[type], name, repetition_type: "OPTIONAL" }];
    return [
      { name, repetition_type: "OPTIONAL", converted_type: "LIST", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { ...UTF8, name: "element", repetition_type: "REQUIRED" },
    ];
  });
  return [{ name: "root", num_children: columns.length }, ...of];
}

function writerInto(descriptor: number) {
  const writer = new ByteWriter(1 << 20);
  const flush = () => {
    for (let rest = writer.getBytes(); rest.length > 0; ) rest = rest.subarray(writeSync(descriptor, rest));
    writer.index = 0;
  };
  return Object.assign(writer, { flush, finish: flush });
}

const CREATED_BY = "fundfeed";

/** Makes the directory if there is none. `about` is stored in each file. Throws if a file with one of the names is no such export. */
export async function createParquetFiles(directory: string, about: { filter: string; made_at: string }) {
  const written = { records: 0, events: 0, amounts_left_out: 0 };
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const named = Object.entries(tables).map(([name, table]) => ({ path: targetOf(join(directory, `${name}.parquet`)), table }));
  for (const { path } of named) await refuseOtherFile(path);
  const leftOut = () => void written.amounts_left_out++;
  const files = named.map(({ path, table }) => createFile(path, table, about, leftOut));
  return {
    put: (opportunity: FlatOpportunity, history: readonly OpportunityEvent[]) => {
      for (const file of files) file.put(opportunity, history);
      written.records++;
      written.events += history.length;
    },
    finish: () => {
      for (const file of files) file.complete();
      for (const file of files) file.putInPlace();
      return written;
    },
    abandon: () => {
      for (const file of files) file.abandon();
    },
  };
}

async function refuseOtherFile(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const metadata = asyncBufferFromFile(path).then(parquetMetadataAsync);
  const createdBy = await metadata.then(({ created_by }) => created_by).catch(() => undefined);
  if (createdBy !== CREATED_BY) throw new Error(`${path} is not an export of this program; use another directory`);
}

function createFile(target: string, { columns, rows }: Table, about: object, leftOut: () => void) {
  const partial = partialPath(target);
  rmSync(partial, { force: true }); // Left by a killed program that had the same process id.
  const descriptor = openSync(partial, "wx", 0o600);
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  const kvMetadata = Object.entries(about).map(([key, value]) => ({ key, value }));
  const parquet = new ParquetWriter({ writer: writerInto(descriptor), schema: schemaOf(columns), createdBy: CREATED_BY, kvMetadata });
  const group = columns.map(([name, type]) => ({
    ...{ name, data: [] as unknown[], store: stored[type] },
    statistics: type !== "plain text", // The least and the greatest would stay in memory.
  }));
  let [size, length] = [0, 0];
  const writeGroup = () => {
    void parquet.write({ columnData: group, rowGroupSize: size }); // It returns a promise only to a writer that does.
    for (const column of group) column.data = [];
    [size, length] = [0, 0];
  };
  const putValue = (column: (typeof group)[number], value: unknown) => {
    const kept = value === null || value === undefined ? null : column.store(value as string);
    if (kept === undefined) leftOut();
    column.data.push(kept ?? null);
    length += typeof kept === "string" || Array.isArray(kept) ? `${kept}`.length : 0;
  };
  return {
    put: (opportunity: FlatOpportunity, history: readonly OpportunityEvent[]) => {
      for (const values of rows(opportunity, history)) {
        for (const [n, column] of group.entries()) putValue(column, values[n]);
        size++;
        if (size === GROUP_ROWS || length >= GROUP_LENGTH) writeGroup();
      }
    },
    complete: () => {
      if (size > 0) writeGroup();
      void parquet.finish();
      fsyncSync(descriptor);
      close();
    },
    putInPlace: () => putInPlace(partial, target),
    abandon: () => {
      close();
      rmSync(partial, { force: true });
    },
  };
}
