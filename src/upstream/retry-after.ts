const SECONDS = /^\d{1,9}$/;

/**
 * Parses a Retry-After header into milliseconds. Source: RFC 9110 §10.2.3 (seconds or HTTP date).
 * @param nowMs - wall clock, for dates.
 * @returns null if absent or invalid.
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (SECONDS.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
