/** An address that may be a link, in its normal form: http or https. `undefined` for anything else, such as `javascript:`. */
export function webAddress(text: string | null): string | undefined {
  const url = URL.parse(text ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
