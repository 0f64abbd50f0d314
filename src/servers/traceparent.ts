/** The W3C traceparent header, unparsed; null for none. */
export function traceparentOf(headers: NodeJS.Dict<string | string[]>): string | null {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : null;
}
