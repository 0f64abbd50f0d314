import { Lru } from '../../../base/cache/lru.ts';
import { type JsonValue, parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import type { Account } from '../../../solana/account/account.ts';
import type { Address } from '../../../solana/address.ts';
import type { AccountLookup } from '../../../solana/parsed/account/parsed-account.ts';
import { isTokenProgram, programs } from '../../../solana/programs.ts';
import { decodeMintScale } from '../../../solana/token/extensions.ts';
import { decodeTokenAccount } from '../../../solana/token/token-state.ts';
import type { MintScale } from '../../../solana/token/ui-amount.ts';
import type { RequestFn } from '../chain-reader.ts';
import type { GeyserLimits } from './limits.ts';

/** Limits the total waiting time per period. Assumes that only one wait is in progress at a time. */
class WaitBudget {
  readonly #waitMs: number;
  readonly #periodMs: number;
  #periodEnd = 0;
  #remainingMs = 0;

  constructor(waitMs: number, periodMs: number) {
    this.#waitMs = waitMs;
    this.#periodMs = periodMs;
  }

  /** Resolves when `done` resolves or the budget is used up. Null if no budget is left. `done` must not reject. */
  wait(done: Promise<void>): Promise<void> | null {
    const start = performance.now();
    if (start >= this.#periodEnd) {
      this.#periodEnd = start + this.#periodMs;
      this.#remainingMs = this.#waitMs;
    }
    if (this.#remainingMs <= 0) return null;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#remainingMs -= performance.now() - start;
        resolve();
      };
      const timer = setTimeout(end, this.#remainingMs);
      void done.then(end);
    });
  }
}

type MintCacheLimits = Pick<
  GeyserLimits,
  'mintsMax' | 'mintMaxAgeMs' | 'mintWaitMs' | 'mintRetryMs' | 'mintFetchesMax'
>;

type MintCacheOptions = Readonly<{ request: RequestFn; log: Logger; limits: MintCacheLimits }>;

/** Decodes the base64 `value.data` of a getAccountInfo result; null if the account is missing. */
function dataOf(result: JsonValue): Uint8Array | null {
  const value = (result as { value?: { data?: unknown } | null }).value;
  const data = value?.data;
  if (!Array.isArray(data) || typeof data[0] !== 'string') return null;
  return Buffer.from(data[0], 'base64');
}

export class MintCache {
  readonly #options: MintCacheOptions;
  readonly #cached: Lru<Address, Readonly<{ scale: MintScale | null; until: number }>>;
  readonly #fetches = new Map<Address, Promise<void>>();
  readonly #budget: WaitBudget;

  constructor(options: MintCacheOptions) {
    const { mintsMax, mintWaitMs, mintRetryMs } = options.limits;
    this.#options = options;
    this.#cached = new Lru(mintsMax);
    this.#budget = new WaitBudget(mintWaitMs, mintRetryMs);
  }

  lookup(): AccountLookup {
    return {
      mint: (mint) => this.#cached.get(mint)?.scale ?? null,
      unixTimestamp: BigInt(Math.floor(Date.now() / 1_000)),
    };
  }

  /** Fetches the account's mint if not cached. Resolves within the wait budget; null if the caller should not wait. */
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
    // Mints of the original token program never change their scale.
    const lifetimeMs = program === programs.token ? Number.POSITIVE_INFINITY : mintMaxAgeMs;
    try {
      const config = { encoding: 'base64', commitment: 'processed' };
      const body = await request('getAccountInfo', [mint, config], AbortSignal.timeout(mintRetryMs));
      const data = dataOf(parseJson(body.toString('utf8')));
      const scale = data === null ? null : decodeMintScale(data);
      this.#cached.set(mint, {
        scale,
        until: performance.now() + (scale === null ? mintMaxAgeMs : lifetimeMs),
      });
    } catch {
      const scale = this.#cached.get(mint)?.scale ?? null;
      this.#cached.set(mint, { scale, until: performance.now() + mintRetryMs });
      log.warn({ mint }, 'Failed to fetch a mint; its token accounts are shown without amounts');
    }
  }
}
