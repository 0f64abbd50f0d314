import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** Outcome of a call: `ok`, an error code, or a connection error. */
export type RequestOutcome = Readonly<{ startedAt: number; endedAt: number; outcome: string }>;

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' });
const POLL_MS = 20;

/** Sends calls to gateways with keys. Times are those of `performance.now()`. */
export class KeyTraffic {
  readonly #urls: readonly string[];
  readonly #agent = new Agent({ connections: 16, pipelining: 1 });
  calls = 0;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  get gateways(): number {
    return this.#urls.length;
  }

  async call(gateway: number, secret: string): Promise<RequestOutcome> {
    this.calls++;
    const startedAt = performance.now();
    const outcome = await this.#request(this.#urls[gateway]!, secret).catch((error: unknown) =>
      String(error),
    );
    return { startedAt, endedAt: performance.now(), outcome };
  }

  /**
   * Sends calls to each gateway until the outcome is as expected, or `isOver`.
   * @returns start of the last call with another outcome, `from` for none; null when it was over before.
   */
  async until(
    secret: string,
    expected: (outcome: string) => boolean,
    isOver: () => boolean,
    from = performance.now(),
  ): Promise<number | null> {
    const times = await Promise.all(
      this.#urls.map(async (_, gateway) => {
        let wrongAt = from;
        while (!isOver()) {
          const { outcome, startedAt } = await this.call(gateway, secret);
          if (expected(outcome)) return wrongAt;
          wrongAt = startedAt;
          await delay(POLL_MS);
        }
        return null;
      }),
    );
    return times.includes(null) ? null : Math.max(...(times as number[]));
  }

  /** Calls per second of a key according to a gateway; null if it reports no limit. */
  async rateOf(gateway: number, secret: string): Promise<number | null> {
    this.calls++;
    const answer = await this.#post(this.#urls[gateway]!, secret);
    await answer.body.dump();
    const [, limit, seconds] = /;q=(\d+);w=(\d+)/.exec(String(answer.headers['ratelimit-policy'])) ?? [];
    return limit === undefined ? null : Number(limit) / Number(seconds);
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  #post(url: string, secret: string) {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
    return request(url, { method: 'POST', headers, body: BODY, dispatcher: this.#agent });
  }

  async #request(url: string, secret: string): Promise<string> {
    const answer = await this.#post(url, secret);
    const text = await answer.body.text();
    if (answer.statusCode === 200 && text.includes('"result"')) return 'ok';
    return /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? `${answer.statusCode} ${text.slice(0, 120)}`;
  }
}
