/** The header with which a client says in whose trace its request belongs, as it was sent; null for none. */
export function traceparentOf(headers: NodeJS.Dict<string | string[]>): string | null {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? traceparent : null;
}
