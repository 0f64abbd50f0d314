const SECONDS = /^\d{1,9}$/;

/**
 * Milliseconds a Retry-After header asks to wait. Source: RFC 9110 §10.2.3 (seconds, or an HTTP date).
 * @param nowMs - the wall clock, for dates.
 * @returns null when the header is absent or says nothing.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (SECONDS.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
