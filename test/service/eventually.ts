import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks until the answer is there. Without a subscription to wait on, a ledger is polled; the bound makes a
 * missing answer a failure with the last thing that was seen.
 */
export async function eventually<T>(
  sendRequest: () => Promise<T | null | undefined | false>,
  what: string,
  { timeoutMs = 20_000, everyMs = 25 } = {},
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const answer = await sendRequest();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`did not happen within ${timeoutMs} ms: ${what}`);
    await delay(everyMs);
  }
}
