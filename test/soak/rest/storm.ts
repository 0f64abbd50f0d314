import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../../programs/process-stats.ts';

export type StormOptions = Readonly<{
  /** URL of wallet/all_tokens. */
  url: string;
  /** API keys, distributed over the workers. */
  keys: readonly string[];
  wallet(index: number): string;
  /** Tokens per wallet, named `Token 0`, `Token 1`, … */
  perWallet: number;
  /** Whether the host of a token's metadata is healthy. */
  hasImage(token: number): boolean;
}>;

type Reply = Readonly<{
  success: boolean;
  result?: readonly Readonly<{
    info: Readonly<{ name: string; image: string }>;
    is_image_loading: boolean;
  }>[];
  error?: Readonly<{ code: string }>;
}>;

export function timesOf(tookMs: readonly number[]): { p50: number; p99: number; longest: number } {
  const sorted = tookMs.toSorted((a, b) => a - b);
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), longest: percentile(sorted, 1) };
}

/** Requests the tokens of wallets, and retries requests that are rejected as OVERLOADED. */
export class Storm {
  readonly calls: number[] = [];
  readonly failed: string[] = [];
  overloaded = 0;
  /** Number of images from healthy hosts that are not loading, and of those missing. */
  imagesDue = 0;
  imagesMissing = 0;
  /** Latencies in milliseconds, excluding rejected attempts. */
  readonly tookMs: number[] = [];
  readonly #options: StormOptions;

  constructor(options: StormOptions) {
    this.#options = options;
  }

  /** Requests wallets with limited concurrency. */
  async run(wallets: number, atOnce: number): Promise<void> {
    let next = 0;
    const worker = async (at: number): Promise<void> => {
      const key = this.#options.keys[at % this.#options.keys.length] ?? '';
      while (next < wallets) await this.#request(next++, key);
    };
    await Promise.all(Array.from({ length: atOnce }, (_, at) => worker(at)));
  }

  async #request(index: number, key: string): Promise<void> {
    const url = `${this.#options.url}?wallet=${this.#options.wallet(index)}`;
    for (;;) {
      const startedAt = performance.now();
      const response = await fetch(url, { headers: { 'x-api-key': key } });
      const reply = (await response.json()) as Reply;
      if (response.status !== 503 || reply.error?.code !== 'OVERLOADED') {
        this.tookMs.push(performance.now() - startedAt);
        this.calls.push(Number(response.headers.get('x-upstream-calls')));
        this.#check(response.status, reply);
        return;
      }
      this.overloaded++;
      await delay(1_000 * Number(response.headers.get('retry-after') ?? Number.NaN));
    }
  }

  #check(status: number, { success, result = [], error }: Reply): void {
    const { perWallet, hasImage } = this.#options;
    const infos = result.map(({ info }) => info);
    if (!success || infos.length !== perWallet || !infos.every(({ name }) => name.startsWith('Token '))) {
      this.failed.push(`${status}: ${JSON.stringify(error ?? result).slice(0, 200)}`);
      return;
    }
    const due = result.filter(
      ({ info, is_image_loading }) => !is_image_loading && hasImage(Number(info.name.slice('Token '.length))),
    );
    this.imagesDue += due.length;
    this.imagesMissing += due.filter(({ info }) => info.image === '').length;
  }
}
