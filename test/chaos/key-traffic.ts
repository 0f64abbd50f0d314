import { setTimeout as delay } from 'node:timers/promises';
import { createRpcClient, type HttpRpcResponse } from '../service/rpc-client.ts';

/** The outcome of a call: `ok`, an error code, or a connection error. */
export type RequestOutcome = Readonly<{ startedAt: number; outcome: string }>;

export const POLL_MS = 20;

function outcomeOf({ status, text, body }: HttpRpcResponse): string {
  if (status === 200 && body.result !== undefined) return 'ok';
  return String(body.error?.data?.code ?? `${status} ${text.slice(0, 120)}`);
}

/** Sends calls to gateways with different keys. Times are from `performance.now()`. */
export class KeyTraffic {
  readonly #urls: readonly string[];
  calls = 0;
  /** Successful calls by key. */
  readonly #answered = new Map<string, number>();

  constructor(urls: readonly string[]) {
    this.#urls = urls;
  }

  answeredOf(secret: string): number {
    return this.#answered.get(secret) ?? 0;
  }

  get gateways(): number {
    return this.#urls.length;
  }

  async call(gateway: number, secret: string): Promise<RequestOutcome> {
    const startedAt = performance.now();
    const outcome = await this.#send(gateway, secret).then(outcomeOf, String);
    if (outcome === 'ok') this.#answered.set(secret, this.answeredOf(secret) + 1);
    return { startedAt, outcome };
  }

  /**
   * Sends calls to each gateway until the outcome is as expected, or `isOver`.
   * @returns the start of the last call with another outcome, `from` if there is none; null if `isOver` came first.
   */
  async until(
    secret: string,
    expected: string,
    isOver: () => boolean,
    from = performance.now(),
  ): Promise<number | null> {
    const times = await Promise.all(
      this.#urls.map(async (_, gateway) => {
        for (let wrongAt = from; !isOver(); await delay(POLL_MS)) {
          const { outcome, startedAt } = await this.call(gateway, secret);
          if (outcome === expected) return wrongAt;
          wrongAt = startedAt;
        }
        return null;
      }),
    );
    return times.includes(null) ? null : Math.max(...(times as number[]));
  }

  /** Calls per second of a key according to a gateway; null if it reports no limit. */
  async rateOf(gateway: number, secret: string): Promise<number | null> {
    const { headers } = await this.#send(gateway, secret);
    const [, limit, seconds] = /;q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
    return limit === undefined ? null : Number(limit) / Number(seconds);
  }

  #send(gateway: number, secret: string): Promise<HttpRpcResponse> {
    this.calls++;
    return createRpcClient(this.#urls[gateway]!, secret).call('getSlot');
  }
}
