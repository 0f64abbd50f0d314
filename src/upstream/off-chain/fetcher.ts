import type { Exchanged, HostClient } from './exchange.ts';
import type { HostLanes, Verdict } from './host-lanes.ts';
import type { OffChainLimits } from './limits.ts';
import { webUrl } from './target.ts';

/** How fetching a document ended. */
export type Fetched =
  | Readonly<{ kind: 'document'; bytes: Buffer }>
  /** There is none, and there will be none for a while. */
  | Readonly<{ kind: 'absent' }>
  /** It could not be had. */
  | Readonly<{ kind: 'failed' }>
  /** It was not asked for, or nobody wanted it any more. */
  | Readonly<{ kind: 'not-asked' }>;

/** How long a document is looked for. */
export type FetcherLimits = Pick<OffChainLimits, 'triesMax' | 'redirectsMax' | 'slowMs'>;

const NOT_ASKED = { kind: 'not-asked' } as const;

/** What the end of an exchange says about the host. A host that refuses what we ask is well. */
function verdictOn(exchanged: Exchanged, gaveUpAfterMs: number | null, slowMs: number): Verdict {
  const answered = exchanged.kind !== 'failed' && exchanged.kind !== 'broken' && exchanged.kind !== 'refused';
  if (answered) return 'good';
  if (gaveUpAfterMs === null) return 'bad';
  return gaveUpAfterMs >= slowMs ? 'bad' : 'unclear';
}

/** Fetches documents: each exchange in its host's lane, redirects looked at, one gateway after the other. */
export class Fetcher {
  readonly #client: Pick<HostClient, 'get'>;
  readonly #lanes: HostLanes;
  readonly #limits: FetcherLimits;
  readonly #ports: readonly number[];

  constructor(
    client: Pick<HostClient, 'get'>,
    lanes: HostLanes,
    limits: FetcherLimits,
    ports: readonly number[],
  ) {
    this.#client = client;
    this.#lanes = lanes;
    this.#limits = limits;
    this.#ports = ports;
  }

  /**
   * The document at the first of the addresses that has it. What is said of the others is no better than of the last
   * one, but what failed may still be there: so one failure is enough for `failed`. Never rejects.
   */
  async fetch(urls: readonly URL[], signal: AbortSignal): Promise<Fetched> {
    const ends: Fetched['kind'][] = [];
    for (const url of urls) {
      const fetched = await this.#follow(url, signal);
      if (fetched.kind === 'document') return fetched;
      ends.push(fetched.kind);
    }
    if (signal.aborted || ends.every((kind) => kind === 'not-asked')) return NOT_ASKED;
    return { kind: ends.every((kind) => kind === 'absent') ? 'absent' : 'failed' };
  }

  async #follow(first: URL, signal: AbortSignal): Promise<Fetched> {
    let url = first;
    for (let redirects = 0; redirects <= this.#limits.redirectsMax; redirects++) {
      const exchanged = await this.#ask(url, signal);
      if (exchanged === null) return NOT_ASKED;
      if (exchanged.kind === 'document') return exchanged;
      if (exchanged.kind !== 'redirect') return { kind: this.#endOf(exchanged) };
      const next = webUrl(exchanged.location, this.#ports, url);
      if (next === null) return { kind: 'absent' };
      url = next;
    }
    return { kind: 'absent' };
  }

  #endOf({ kind }: Exchanged): 'absent' | 'failed' {
    return kind === 'absent' || kind === 'refused' ? 'absent' : 'failed';
  }

  /** Asks again where the connection broke: a host may close an idle one in the moment in which it is used. */
  async #ask(url: URL, signal: AbortSignal): Promise<Exchanged | null> {
    let exchanged: Exchanged | null = null;
    for (let tries = 0; tries < this.#limits.triesMax; tries++) {
      exchanged = (await this.#exchange(url, signal)) ?? exchanged;
      if (exchanged?.kind !== 'broken') return exchanged;
    }
    return exchanged;
  }

  /** One exchange, in its lane. The place is given back before a redirect is followed, so that none waits for another. */
  async #exchange(url: URL, signal: AbortSignal): Promise<Exchanged | null> {
    const place = await this.#lanes.enter(url.host, signal);
    if (place === null) return null;
    const startedAt = performance.now();
    const exchanged = await this.#client.get(url, signal);
    const gaveUpAfterMs = signal.aborted ? performance.now() - startedAt : null;
    place.leave(verdictOn(exchanged, gaveUpAfterMs, this.#limits.slowMs));
    return exchanged;
  }
}
