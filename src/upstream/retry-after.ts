const SECONDS = /^\d{1,9}$/;

/** Delay in milliseconds; null if absent or invalid. Source: RFC 9110 §10.2.3. @param nowMs - wall clock. */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (SECONDS.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
