/** @jsxImportSource hono/jsx */
/** The page of the quality of data: the report of `fundfeed quality`. It reads every record, so a large catalog has it on the command line only. */

import { sourceStatuses } from "../opportunities/source-counts.ts";
import { qualityOf, type SourceQuality } from "../quality/report.ts";
import { listSources } from "../sources/source.ts";
import { withCommas } from "../text/in-words.ts";
import { Exact, FoldedTable, withBetween } from "./marks.tsx";
import { type BrowsePage, opportunityAddress, type PageContext } from "./page.ts";

const RECORDS_MAX = 30_000;

export async function qualityPage({ catalog, now }: PageContext): Promise<BrowsePage> {
  const named = await listSources(catalog);
  const records = (await sourceStatuses(catalog)).reduce((sum, each) => sum + each.records, 0);
  const body =
    records > RECORDS_MAX ? (
      <p class="empty">
        There are {withCommas(records)} records, and a page reads at most {withCommas(RECORDS_MAX)}. The command{" "}
        <code>fundfeed quality</code> reads them all.
      </p>
    ) : (
      (await qualityOf(catalog, { now })).map((report) => (
        <SourceReport key={report.source} name={named.find(({ code }) => code === report.source)?.name ?? report.source} report={report} />
      ))
    );
  return {
    title: "Quality of the data",
    section: "sources",
    body: (
      <>
        <h1>Quality of the data</h1>
        <p class="lead">Which values cannot be, which fields are filled, and what the last import of each source made worse.</p>
        {body}
      </>
    ),
  };
}

function SourceReport({ name, report }: { name: string; report: SourceQuality }) {
  const { live, findings, falls, fill, compared, last_import } = report;
  return (
    <section>
      <h2>{name}</h2>
      {last_import !== null && last_import.rejected > 0 && (
        <p>
          The last import rejected {withCommas(last_import.rejected)} of {withCommas(last_import.read)} records.
        </p>
      )}
      {findings.length > 0 && (
        <ul>
          {findings.map(({ rule, says, records, sample_ids }) => (
            <li key={rule}>
              {withCommas(records)}: {says} (for example{" "}
              {withBetween(sample_ids.map((id) => <a href={opportunityAddress(id)}>{id.slice(0, 8)}</a>))})
            </li>
          ))}
        </ul>
      )}
      {compared !== null && falls.length > 0 && (
        <ul>
          {falls.map(({ what, before, now }) => (
            <li key={what}>
              <code>{what}</code> fell from {amount(what, before)} to {amount(what, now)} since <Exact at={compared.since} />
            </li>
          ))}
        </ul>
      )}
      {findings.length === 0 && falls.length === 0 && <p>Nothing was found.</p>}
      <FoldedTable
        summary={`Fields of the ${withCommas(live)} records that are not archived`}
        names={["Field", "Records", "Share"]}
        rows={fill.map(({ field, records, share }) => [<code>{field}</code>, withCommas(records), percent(share)])}
      />
    </section>
  );
}

function amount(what: string, value: number): string {
  return what === "records" ? withCommas(value) : percent(value);
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10}%`;
}
