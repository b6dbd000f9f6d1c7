/** Response envelopes: ready documents between a head and a tail, as bytes. No document is parsed on its way out. */
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
    description: "The next page, relative to the origin. Not to be followed as returned: build the next request on your base address.",
  }),
});

export const detailOf = <T extends TSchema>(data: T) => object({ data, meta: RequestMeta });
export const catalogOf = <T extends TSchema>(item: T) => object({ data: Type.Array(item), meta: RequestMeta });
export const pageOf = <T extends TSchema>(item: T) => object({ data: Type.Array(item), meta: PageMeta, links: PageLinks });

type Bytes = Uint8Array<ArrayBuffer>;

const PAGE_HEAD = Buffer.from('{"data":[');
const DETAIL_HEAD = Buffer.from('{"data":');
const COMMA = 0x2c;

/** One document in the detail envelope. */
export function detailEnvelope(document: Uint8Array, requestId: string): Bytes {
  return join(DETAIL_HEAD, [document], `,"meta":{"request_id":"${requestId}"}}`);
}

/** A page of documents. `links` hold URI references, cursors are base64url: the tail is ASCII. */
export function pageEnvelope(
  documents: readonly Uint8Array[],
  requestId: string,
  nextCursor: string | null,
  links: { self: string; next: string | null },
): Bytes {
  const meta = { request_id: requestId, count: documents.length, has_more: nextCursor !== null, next_cursor: nextCursor };
  return join(PAGE_HEAD, documents, `],"meta":${JSON.stringify(meta)},"links":${JSON.stringify(links)}}`);
}

function join(head: Buffer, documents: readonly Uint8Array[], asciiTail: string): Bytes {
  let length = head.length + asciiTail.length + Math.max(0, documents.length - 1);
  for (const document of documents) length += document.length;

  const bytes = Buffer.allocUnsafe(length);
  bytes.set(head, 0);
  let end = head.length;
  for (let index = 0; index < documents.length; index++) {
    const document = documents[index] as Uint8Array; // In range.
    if (index > 0) bytes[end++] = COMMA;
    bytes.set(document, end);
    end += document.length;
  }
  bytes.write(asciiTail, end, "latin1");
  return bytes;
}
