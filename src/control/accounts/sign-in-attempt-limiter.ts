import { Lru } from '../../base/cache/lru.ts';
import { parseIpAddress } from '../../base/ip-address.ts';
import { type Attempt, AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { Failure } from '../../protocol/errors.ts';
import { ApiError } from '../api/api-error.ts';
import type { AccountLimits } from './account-options.ts';

/** What one customer of a network has at least: whoever has 64 bits of IPv6 would have an address for every try. */
export const subnetOf = (address: string): string => parseIpAddress(address)?.site ?? address;

/** @throws ApiError 429 */
export function startAttempt(limit: AttemptLimiter, name: string): Attempt {
  try {
    return limit.start(name);
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
export class SignInAttemptLimiter {
  readonly #accounts: AttemptLimiter;
  readonly #trustedAccounts: AttemptLimiter;
  readonly #subnets: AttemptLimiter;
  readonly #trustedSources: Lru<string, true>;

  constructor({ accountTries, addressTries }: AccountLimits, now: () => number) {
    this.#accounts = new AttemptLimiter(accountTries, now);
    this.#trustedAccounts = new AttemptLimiter(accountTries, now);
    this.#subnets = new AttemptLimiter(addressTries, now);
    this.#trustedSources = new Lru(accountTries.rememberedMax);
  }

  /**
   * Begins a try.
   * @param group - goes in front of the names, for what is counted apart.
   * @throws ApiError 429
   */
  startAttempt(group: string, account: string | null, address: string): Attempt {
    const subnet = subnetOf(address);
    const subnetAttempt = startAttempt(this.#subnets, group + subnet);
    let accountAttempt: Attempt | null = null;
    try {
      if (account !== null) accountAttempt = this.#startAccountAttempt(group, account, subnet);
    } catch (thrown) {
      subnetAttempt.discard();
      throw thrown;
    }
    const both = (end: (one: Attempt) => void) => (): void => {
      end(subnetAttempt);
      if (accountAttempt !== null) end(accountAttempt);
    };
    return {
      succeed: () => {
        // Not `right`: with an account of one's own the tries at others would be forgotten.
        subnetAttempt.discard();
        accountAttempt?.succeed();
      },
      fail: both((one) => one.fail()),
      discard: both((one) => one.discard()),
    };
  }

  #startAccountAttempt(group: string, account: string, subnet: string): Attempt {
    const name = sourceKey(account, subnet);
    return this.#trustedSources.get(name) === true
      ? startAttempt(this.#trustedAccounts, group + name)
      : startAttempt(this.#accounts, group + account);
  }

  /** Somebody at this address had the account's password. */
  signedIn(account: string, address: string): void {
    this.#trustedSources.set(sourceKey(account, subnetOf(address)), true);
  }
}

/** A site has no space, so no account that somebody makes up is taken for another's. */
const sourceKey = (account: string, subnet: string): string => `${subnet} ${account}`;
