/** Response envelopes: stored documents between a head and a tail, as bytes. Documents are never parsed on the way out. */
import { type TSchema, Type } from "@sinclair/typebox";

const object = <T extends Record<string, TSchema>>(properties: T) => Type.Object(properties, { additionalProperties: false });

const requestId = Type.String({ description: "Identifies this request; the same as `X-Request-Id`." });

export const RequestMeta = object({ request_id: requestId });

export const PageMeta = object({
  request_id: requestId,
  count: Type.Integer({ minimum: 0, description: "Number of items in this page." }),
  has_more: Type.Boolean({ description: "Whether another page follows." }),
  next_cursor: Type.Union([Type.String({ maxLength: 512 }), Type.Null()], {
    description: "Send it as `cursor`, with the same filters, for the next page. Null on the last page.",
  }),
});

export const PageLinks = object({
  self: Type.String({ format: "uri-reference", description: "This page, relative to the origin." }),
  next: Type.Union([Type.String({ format: "uri-reference" }), Type.Null()], {
    description: "The next page, relative to the origin. Do not follow it as returned; build the next request on your base address.",
  }),
});

export const detailOf = <T extends TSchema>(data: T) => object({ data, meta: RequestMeta });
export const catalogOf = <T extends TSchema>(item: T) => object({ data: Type.Array(item), meta: RequestMeta });
export const pageOf = <T extends TSchema>(item: T) => object({ data: Type.Array(item), meta: PageMeta, links: PageLinks });

type Bytes = Uint8Array<ArrayBuffer>;

const PAGE_HEAD = Buffer.from('{"data":[');
const DETAIL_HEAD = Buffer.from('{"data":');
const COMMA = Buffer.from(",");

/** One document in the detail envelope. */
export function detailEnvelope(document: Uint8Array, requestId: string): Bytes {
  return Buffer.concat([DETAIL_HEAD, document, Buffer.from(`,"meta":{"request_id":"${requestId}"}}`)]);
}

/** A page of documents. */
export function pageEnvelope(
  documents: readonly Uint8Array[],
  requestId: string,
  nextCursor: string | null,
  links: { self: string; next: string | null },
): Bytes {
  const meta = { request_id: requestId, count: documents.length, has_more: nextCursor !== null, next_cursor: nextCursor };
  const parts: Uint8Array[] = [PAGE_HEAD];
  for (const [index, document] of documents.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(document);
  }
  parts.push(Buffer.from(`],"meta":${JSON.stringify(meta)},"links":${JSON.stringify(links)}}`));
  return Buffer.concat(parts);
}
