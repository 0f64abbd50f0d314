import { Lru } from '../../../base/cache/lru.ts';
import { type JsonValue, parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { Account } from '../../../solana/account/account.ts';
import type { Address } from '../../../solana/address.ts';
import type { AccountLookup } from '../../../solana/parsed/account/parsed-account.ts';
import { isTokenProgram, programs } from '../../../solana/programs.ts';
import { decodeMintScale, type MintScale } from '../../../solana/token/extensions.ts';
import { decodeTokenAccount } from '../../../solana/token/token-state.ts';
import type { GeyserLimits } from './geyser-limits.ts';
import type { RequestFn } from './request-fn.ts';
import { WaitBudget } from './wait-budget.ts';

type CachedMint = Readonly<{ scale: MintScale | null; until: number }>;

type MintCacheLimits = Pick<
  GeyserLimits,
  'mintsMax' | 'mintMaxAgeMs' | 'mintWaitMs' | 'mintRetryMs' | 'mintFetchesMax'
>;

type MintCacheOptions = Readonly<{ request: RequestFn; log: Logger; limits: MintCacheLimits }>;

/** `value.data` of getAccountInfo in base64, if the account is there. */
function dataOf(result: JsonValue): Uint8Array | null {
  const value = (result as { value?: { data?: unknown } | null }).value;
  const data = value?.data;
  if (!Array.isArray(data) || typeof data[0] !== 'string') return null;
  return Buffer.from(data[0], 'base64');
}

/** How amounts of mints are shown, fetched when a token account needs it and remembered. */
export class MintCache {
  readonly #options: MintCacheOptions;
  readonly #cached: Lru<Address, CachedMint>;
  readonly #fetches = new Map<Address, Promise<void>>();
  readonly #budget: WaitBudget;

  constructor(options: MintCacheOptions) {
    const { mintsMax, mintWaitMs, mintRetryMs } = options.limits;
    this.#options = options;
    this.#cached = new Lru(mintsMax);
    this.#budget = new WaitBudget(mintWaitMs, mintRetryMs);
  }

  /** What is known now. */
  lookup(): AccountLookup {
    return {
      mint: (mint) => this.#cached.get(mint)?.scale ?? null,
      unixTimestamp: BigInt(Math.floor(Date.now() / 1_000)),
    };
  }

  /**
   * Fetches the mint of a token account where it is not known, each once at a time. All waits together are no
   * longer than `mintWaitMs` in every `mintRetryMs`: what has to be told beyond that is told without the mint, which
   * is fetched all the same.
   * @returns null when nothing has to be waited for; the promise never rejects.
   */
  fetchFor(account: Account): Promise<void> | null {
    if (!isTokenProgram(account.owner)) return null;
    const mint = decodeTokenAccount(account.data)?.mint;
    if (mint === undefined) return null;
    const cached = this.#cached.get(mint);
    if (cached !== undefined && cached.until > performance.now()) return null;
    const fetched = this.#fetches.get(mint) ?? this.#startFetch(mint, account.owner);
    return fetched === null ? null : this.#budget.wait(fetched);
  }

  #startFetch(mint: Address, program: Address): Promise<void> | null {
    if (this.#fetches.size >= this.#options.limits.mintFetchesMax) return null;
    const fetched = this.#fetch(mint, program).finally(() => this.#fetches.delete(mint));
    this.#fetches.set(mint, fetched);
    return fetched;
  }

  async #fetch(mint: Address, program: Address): Promise<void> {
    const { request, log, limits } = this.#options;
    const { mintMaxAgeMs, mintRetryMs } = limits;
    // What an old mint program tells never changes.
    const age = program === programs.token ? Number.POSITIVE_INFINITY : mintMaxAgeMs;
    try {
      const config = { encoding: 'base64', commitment: 'processed' };
      const body = await request('getAccountInfo', [mint, config], AbortSignal.timeout(mintRetryMs));
      const data = dataOf(parseJson(body.toString('utf8')));
      const scale = data === null ? null : decodeMintScale(data);
      this.#cached.set(mint, { scale, until: performance.now() + (scale === null ? mintMaxAgeMs : age) });
    } catch {
      // What was known of it is better than nothing.
      const scale = this.#cached.get(mint)?.scale ?? null;
      this.#cached.set(mint, { scale, until: performance.now() + mintRetryMs });
      log.warn({ mint }, 'a mint could not be fetched: accounts of it are shown without their amounts');
    }
  }
}
