import { setTimeout as delay } from 'node:timers/promises';

/** Polls until there is a result, for state that sends no events. A timeout reports the last value. */
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
