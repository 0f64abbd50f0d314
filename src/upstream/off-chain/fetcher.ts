import type { ExchangeResult, HostClient } from './host-client.ts';
import type { HostOutcome, HostQueues } from './host-queues.ts';
import type { OffChainLimits } from './limits.ts';
import { webUrl } from './target.ts';

/** How fetching a document ended. */
export type FetchResult =
  | Readonly<{ kind: 'document'; bytes: Buffer }>
  /** There is none, and there will be none for a while. */
  | Readonly<{ kind: 'absent' }>
  /** It could not be had. */
  | Readonly<{ kind: 'failed' }>
  /** It was not asked for, or nobody wanted it any more. */
  | Readonly<{ kind: 'not-asked' }>;

/** How long a document is looked for. */
export type FetcherLimits = Pick<OffChainLimits, 'triesMax' | 'redirectsMax' | 'slowMs'>;

const NOT_REQUESTED = { kind: 'not-asked' } as const;

/** What the end of an exchange says about the host. A host that refuses what we ask is well. */
function hostOutcomeOf(exchange: ExchangeResult, abortedAfterMs: number | null, slowMs: number): HostOutcome {
  const responded = exchange.kind !== 'failed' && exchange.kind !== 'broken' && exchange.kind !== 'refused';
  if (responded) return 'good';
  if (abortedAfterMs === null) return 'bad';
  return abortedAfterMs >= slowMs ? 'bad' : 'unclear';
}

/** Fetches documents: each exchange in its host's lane, redirects looked at, one gateway after the other. */
export class Fetcher {
  readonly #client: Pick<HostClient, 'get'>;
  readonly #queues: HostQueues;
  readonly #limits: FetcherLimits;
  readonly #ports: readonly number[];

  constructor(
    client: Pick<HostClient, 'get'>,
    queues: HostQueues,
    limits: FetcherLimits,
    ports: readonly number[],
  ) {
    this.#client = client;
    this.#queues = queues;
    this.#limits = limits;
    this.#ports = ports;
  }

  /**
   * The document at the first of the addresses that has it. What is said of the others is no better than of the last
   * one, but what failed may still be there: so one failure is enough for `failed`. Never rejects.
   */
  async fetch(urls: readonly URL[], signal: AbortSignal): Promise<FetchResult> {
    const ends: FetchResult['kind'][] = [];
    for (const url of urls) {
      const result = await this.#follow(url, signal);
      if (result.kind === 'document') return result;
      ends.push(result.kind);
    }
    if (signal.aborted || ends.every((kind) => kind === 'not-asked')) return NOT_REQUESTED;
    return { kind: ends.every((kind) => kind === 'absent') ? 'absent' : 'failed' };
  }

  async #follow(first: URL, signal: AbortSignal): Promise<FetchResult> {
    let url = first;
    for (let redirects = 0; redirects <= this.#limits.redirectsMax; redirects++) {
      const exchange = await this.#exchangeWithRetry(url, signal);
      if (exchange === null) return NOT_REQUESTED;
      if (exchange.kind === 'document') return exchange;
      if (exchange.kind !== 'redirect') return { kind: this.#endOf(exchange) };
      const next = webUrl(exchange.location, this.#ports, url);
      if (next === null) return { kind: 'absent' };
      url = next;
    }
    return { kind: 'absent' };
  }

  #endOf({ kind }: ExchangeResult): 'absent' | 'failed' {
    return kind === 'absent' || kind === 'refused' ? 'absent' : 'failed';
  }

  /** Asks again where the connection broke: a host may close an idle one in the moment in which it is used. */
  async #exchangeWithRetry(url: URL, signal: AbortSignal): Promise<ExchangeResult | null> {
    let exchange: ExchangeResult | null = null;
    for (let tries = 0; tries < this.#limits.triesMax; tries++) {
      exchange = (await this.#exchange(url, signal)) ?? exchange;
      if (exchange?.kind !== 'broken') return exchange;
    }
    return exchange;
  }

  /** One exchange, in its lane. The place is given back before a redirect is followed, so that none waits for another. */
  async #exchange(url: URL, signal: AbortSignal): Promise<ExchangeResult | null> {
    const slot = await this.#queues.acquire(url.host, signal);
    if (slot === null) return null;
    const startedAt = performance.now();
    const exchange = await this.#client.get(url, signal);
    const abortedAfterMs = signal.aborted ? performance.now() - startedAt : null;
    slot.release(hostOutcomeOf(exchange, abortedAfterMs, this.#limits.slowMs));
    return exchange;
  }
}
