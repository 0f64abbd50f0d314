import { Lru } from '../../base/cache/lru.ts';
import { parseIpAddress } from '../../base/ip-address.ts';
import type { Logger } from '../../base/log.ts';
import { type Attempt, AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { Failure } from '../../protocol/errors.ts';
import { ApiError } from '../api/api-error.ts';
import type { Store } from '../database/open.ts';
import { type AuditEntry, nextVersions, transact, writeAudits } from '../database/transaction.ts';
import type { AccountLimits } from './account-options.ts';
import type { RequestMetadata } from './sign-in-store.ts';

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

/** How many lines the audit log gets of what strangers try. */
type FailedSignInLogLimits = Readonly<{
  /** Between two writings, in milliseconds. */
  intervalMs: number;
  /** Accounts that are told apart in one writing; the others are counted together with those that nobody has. */
  accountsMax: number;
}>;

/** What holds unless something else is said. */
const failedSignInLogLimits: FailedSignInLogLimits = { intervalMs: 60_000, accountsMax: 100 };

type FailedSignIn = { path: string; facts: RequestMetadata; at: number; count: number };

type FailedSignInLogOptions = Readonly<{ store: Store; now: () => number; log: Logger }>;

/**
 * Tells the audit log of refused tries to sign in: of each account one line a minute, with how many there were, and one
 * for all that name no account there is. Nothing is ever deleted there, so strangers must not be able to fill it. The
 * first is written at once; no answer waits for it, or its time would tell which accounts there are.
 */
export class FailedSignInLog {
  readonly #parts: FailedSignInLogOptions;
  readonly #limits: FailedSignInLogLimits;
  /** By account. */
  #byAccount = new Map<string, FailedSignIn>();
  #others: FailedSignIn | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: FailedSignInLogOptions, limits: Partial<FailedSignInLogLimits> = {}) {
    this.#parts = parts;
    this.#limits = { ...failedSignInLogLimits, ...limits };
  }

  /** @param account - whose password or code was tried, as the request says; null: it names none. */
  record(path: string, account: string | null, facts: RequestMetadata): void {
    const one = { path, facts, at: this.#parts.now(), count: 1 };
    const existing = account === null ? undefined : this.#byAccount.get(account);
    if (existing !== undefined) existing.count += 1;
    else if (account !== null && this.#byAccount.size < this.#limits.accountsMax)
      this.#byAccount.set(account, one);
    else this.#others = mergeCounts(this.#others, one);
    if (this.#timer === null) this.#write();
  }

  /** Writes what is left. Never rejects. */
  async stop(): Promise<void> {
    this.#stopTimer();
    this.#write();
    this.#stopTimer();
    await this.#writing;
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Writes what there is, and looks again after a while; without anything, not before the next one. */
  #write(): void {
    this.#timer = null;
    if (this.#byAccount.size === 0 && this.#others === null) return;
    this.#timer = setTimeout(() => this.#write(), this.#limits.intervalMs).unref();
    const [byAccount, others] = [this.#byAccount, this.#others];
    this.#byAccount = new Map();
    this.#others = null;
    this.#writing = this.#writing
      .then(() => this.#writeLines(byAccount, others))
      .catch((err) => {
        const count = sumOf([...byAccount.values(), ...(others === null ? [] : [others])]);
        this.#parts.log.warn({ err, count }, 'refused tries to sign in are missing from the audit log');
      });
  }

  async #writeLines(
    byAccount: ReadonlyMap<string, FailedSignIn>,
    others: FailedSignIn | null,
  ): Promise<void> {
    const { store } = this.#parts;
    const names = [...byAccount.keys()];
    const rows =
      names.length === 0
        ? []
        : await store.db.selectFrom('auth_user').select('email').where('email', 'in', names).execute();
    const accounts = new Set(rows.map(({ email }) => email));
    const unknown = names
      .filter((name) => !accounts.has(name))
      .map((name) => byAccount.get(name) as FailedSignIn);
    const rest = unknown.reduce(mergeCounts, others);
    const entries = [...accounts].map((account) => entryOf(byAccount.get(account) as FailedSignIn, account));
    if (rest !== null) entries.push(entryOf(rest, null));
    await transact(store, async (trx) => {
      await writeAudits(trx, await nextVersions(trx, entries.length), entries);
    });
  }
}

const mergeCounts = (sum: FailedSignIn | null, one: FailedSignIn): FailedSignIn =>
  sum === null ? one : { ...sum, count: sum.count + one.count };

const sumOf = (all: readonly FailedSignIn[]): number => all.reduce((sum, { count }) => sum + count, 0);

/** With the path and the place of the first. */
function entryOf({ path, facts, at, count }: FailedSignIn, account: string | null): AuditEntry {
  const detail = { path, ...(account !== null && { account }), count };
  return { at, actor: 'nobody', action: 'session.refused', keyId: null, detail, ...facts };
}
