import { type JsonValue, parseJson } from '../../../base/json.ts';
import type { Logger } from '../../../base/log.ts';
import { Lru } from '../../../base/lru.ts';
import type { Account } from '../../../ledger/account/account.ts';
import type { Address } from '../../../ledger/address.ts';
import type { AccountLookup } from '../../../ledger/parsed/account/parsed-account.ts';
import { isTokenProgram, programs } from '../../../ledger/programs.ts';
import { decodeMintScale, type MintScale } from '../../../ledger/token/mint-scale.ts';
import { decodeTokenAccount } from '../../../ledger/token/token-account.ts';
import type { Ask } from './ask.ts';
import type { GeyserLimits } from './geyser-limits.ts';
import { WaitBudget } from './wait-budget.ts';

type Known = Readonly<{ scale: MintScale | null; until: number }>;

type MintLimits = Pick<
  GeyserLimits,
  'mintsMax' | 'mintMaxAgeMs' | 'mintWaitMs' | 'mintRetryMs' | 'mintFetchesMax'
>;

type MintsOptions = Readonly<{ ask: Ask; log: Logger; limits: MintLimits }>;

/** `value.data` of getAccountInfo in base64, if the account is there. */
function dataOf(result: JsonValue): Uint8Array | null {
  const value = (result as { value?: { data?: unknown } | null }).value;
  const data = value?.data;
  if (!Array.isArray(data) || typeof data[0] !== 'string') return null;
  return Buffer.from(data[0], 'base64');
}

/** How amounts of mints are shown, fetched when a token account needs it and remembered. */
export class Mints {
  readonly #options: MintsOptions;
  readonly #known: Lru<Address, Known>;
  readonly #fetches = new Map<Address, Promise<void>>();
  readonly #budget: WaitBudget;

  constructor(options: MintsOptions) {
    const { mintsMax, mintWaitMs, mintRetryMs } = options.limits;
    this.#options = options;
    this.#known = new Lru(mintsMax);
    this.#budget = new WaitBudget(mintWaitMs, mintRetryMs);
  }

  /** What is known now. */
  lookup(): AccountLookup {
    return {
      mint: (mint) => this.#known.get(mint)?.scale ?? null,
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
    const known = this.#known.get(mint);
    if (known !== undefined && known.until > performance.now()) return null;
    const fetched = this.#fetches.get(mint) ?? this.#begin(mint, account.owner);
    return fetched === null ? null : this.#budget.wait(fetched);
  }

  #begin(mint: Address, program: Address): Promise<void> | null {
    if (this.#fetches.size >= this.#options.limits.mintFetchesMax) return null;
    const fetched = this.#fetch(mint, program).finally(() => this.#fetches.delete(mint));
    this.#fetches.set(mint, fetched);
    return fetched;
  }

  async #fetch(mint: Address, program: Address): Promise<void> {
    const { ask, log, limits } = this.#options;
    const { mintMaxAgeMs, mintRetryMs } = limits;
    // What an old mint program tells never changes.
    const age = program === programs.token ? Number.POSITIVE_INFINITY : mintMaxAgeMs;
    try {
      const config = { encoding: 'base64', commitment: 'processed' };
      const body = await ask('getAccountInfo', [mint, config], AbortSignal.timeout(mintRetryMs));
      const data = dataOf(parseJson(body.toString('utf8')));
      const scale = data === null ? null : decodeMintScale(data);
      this.#known.set(mint, { scale, until: performance.now() + (scale === null ? mintMaxAgeMs : age) });
    } catch {
      // What was known of it is better than nothing.
      const scale = this.#known.get(mint)?.scale ?? null;
      this.#known.set(mint, { scale, until: performance.now() + mintRetryMs });
      log.warn({ mint }, 'a mint could not be fetched: accounts of it are shown without their amounts');
    }
  }
}
