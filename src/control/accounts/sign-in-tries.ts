import { type Try, TryLimit } from '../../access/try-limit.ts';
import { parseIpAddress } from '../../base/ip-address.ts';
import { Lru } from '../../base/lru.ts';
import { Failure } from '../../protocol/errors.ts';
import { ApiError } from '../api/api-error.ts';
import type { AccountLimits } from './account-options.ts';

/** What one customer of a network has at least: whoever has 64 bits of IPv6 would have an address for every try. */
export const siteOf = (address: string): string => parseIpAddress(address)?.site ?? address;

/** @throws ApiError 429 */
export function beginTry(limit: TryLimit, name: string): Try {
  try {
    return limit.begin(name);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    throw new ApiError(429, 'TOO_MANY_TRIES', 'too many wrong tries: wait a moment, then try again', {
      retryAfter: thrown.retryAfter ?? 1,
    });
  }
}

/**
 * Counts wrong passwords and codes, at an account and from a site. Where somebody signed in to an account before, their
 * tries at it are counted apart from those of all the world, which so cannot keep them out.
 */
export class SignInTries {
  readonly #accounts: TryLimit;
  readonly #fromKnown: TryLimit;
  readonly #sites: TryLimit;
  readonly #known: Lru<string, true>;

  constructor({ accountTries, addressTries }: AccountLimits, now: () => number) {
    this.#accounts = new TryLimit(accountTries, now);
    this.#fromKnown = new TryLimit(accountTries, now);
    this.#sites = new TryLimit(addressTries, now);
    this.#known = new Lru(accountTries.rememberedMax);
  }

  /**
   * Begins a try.
   * @param group - goes in front of the names, for what is counted apart.
   * @throws ApiError 429
   */
  begin(group: string, account: string | null, address: string): Try {
    const site = siteOf(address);
    const atSite = beginTry(this.#sites, group + site);
    let atAccount: Try | null = null;
    try {
      if (account !== null) atAccount = this.#at(group, account, site);
    } catch (thrown) {
      atSite.void();
      throw thrown;
    }
    const both = (end: (one: Try) => void) => (): void => {
      end(atSite);
      if (atAccount !== null) end(atAccount);
    };
    return {
      right: () => {
        // Not `right`: with an account of one's own the tries at others would be forgotten.
        atSite.void();
        atAccount?.right();
      },
      wrong: both((one) => one.wrong()),
      void: both((one) => one.void()),
    };
  }

  #at(group: string, account: string, site: string): Try {
    const name = placeOf(account, site);
    return this.#known.get(name) === true
      ? beginTry(this.#fromKnown, group + name)
      : beginTry(this.#accounts, group + account);
  }

  /** Somebody at this address had the account's password. */
  signedIn(account: string, address: string): void {
    this.#known.set(placeOf(account, siteOf(address)), true);
  }
}

/** A site has no space, so no account that somebody makes up is taken for another's. */
const placeOf = (account: string, site: string): string => `${site} ${account}`;
