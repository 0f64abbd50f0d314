/** A request must be on the wire for so long before the node gives an unused connection up, by its own clock. */
const MARGIN_MS = 1_000;
const TIMEOUT = /timeout=(\d{1,9})/i;

/** How long a connection may wait for its next request, from what a `keep-alive` field says; null when it does not say. */
export function parseKeepAliveMs(value: string): number | null {
  const seconds = TIMEOUT.exec(value)?.[1];
  if (seconds === undefined) return null;
  const ms = Number(seconds) * 1_000;
  return ms - Math.min(MARGIN_MS, ms / 2);
}
