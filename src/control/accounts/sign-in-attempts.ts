import { Lru } from '../../base/cache/lru.ts';
import { subnetOf } from '../../base/ip-address.ts';
import type { Logger } from '../../base/log.ts';
import { type Attempt, AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { Failure } from '../../protocol/errors.ts';
import { ApiError } from '../api/api-error.ts';
import type { AuditEntry, RequestMetadata } from '../database/audit-entry.ts';
import type { Store } from '../database/store.ts';
import { nextVersions, transact, writeAudits } from '../database/transaction.ts';
import type { AccountLimits } from './account-options.ts';

/** Starts an attempt. @throws ApiError 429 for too many failed attempts */
export function startAttempt(limit: AttemptLimiter, name: string): Attempt {
  try {
    return limit.start(name);
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    throw new ApiError(429, 'TOO_MANY_TRIES', 'Too many failed attempts. Wait a moment, then try again.', {
      retryAfter: thrown.retryAfter ?? 1,
    });
  }
}

/**
 * Limits failed attempts per account and per subnet. A subnet from which the user has signed in before has a
 * separate counter for that account, so that attackers cannot lock the user out.
 */
export class SignInAttemptLimiter {
  readonly #accounts: AttemptLimiter;
  readonly #trustedAccounts: AttemptLimiter;
  readonly #subnets: AttemptLimiter;
  readonly #trustedSources: Lru<string, true>;

  constructor({ accountAttempts, addressAttempts }: AccountLimits, now: () => number) {
    this.#accounts = new AttemptLimiter(accountAttempts, now);
    this.#trustedAccounts = new AttemptLimiter(accountAttempts, now);
    this.#subnets = new AttemptLimiter(addressAttempts, now);
    this.#trustedSources = new Lru(accountAttempts.rememberedMax);
  }

  /** @param group - prefix of counter names, for attempts that need separate counters. */
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
    return {
      succeed: () => {
        // Keeps the subnet's failures: attackers could otherwise clear them by signing in to their own account.
        subnetAttempt.discard();
        accountAttempt?.succeed();
      },
      fail: () => {
        subnetAttempt.fail();
        accountAttempt?.fail();
      },
      discard: () => {
        subnetAttempt.discard();
        accountAttempt?.discard();
      },
    };
  }

  #startAccountAttempt(group: string, account: string, subnet: string): Attempt {
    const name = sourceKey(account, subnet);
    return this.#trustedSources.get(name) === true
      ? startAttempt(this.#trustedAccounts, group + name)
      : startAttempt(this.#accounts, group + account);
  }

  trustSource(account: string, address: string): void {
    this.#trustedSources.set(sourceKey(account, subnetOf(address)), true);
  }
}

/** Subnets contain no space, so the key is unambiguous. */
const sourceKey = (account: string, subnet: string): string => `${subnet} ${account}`;

const WRITE_INTERVAL_MS = 60_000;
/** Maximum number of accounts with separate audit entries per interval. */
const ACCOUNTS_MAX = 100;

type FailedSignIn = { path: string; facts: RequestMetadata; at: number; count: number };

type FailedSignInLogOptions = Readonly<{ store: Store; now: () => number; log: Logger }>;

/**
 * Writes one audit entry per account and minute with the number of failed sign-ins. Unknown accounts share an entry, so
 * that attackers cannot fill the log. Responses do not wait for the write: the delay would reveal which accounts exist.
 */
export class FailedSignInLog {
  readonly #parts: FailedSignInLogOptions;
  /** Keyed by account; null: all other accounts, counted together. */
  #pending = new Map<string | null, FailedSignIn>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: FailedSignInLogOptions) {
    this.#parts = parts;
  }

  record(path: string, account: string | null, facts: RequestMetadata): void {
    const accounts = this.#pending.has(null) ? this.#pending.size - 1 : this.#pending.size;
    // Beyond the maximum, accounts are counted together.
    const key = this.#pending.has(account) || accounts < ACCOUNTS_MAX ? account : null;
    const one = this.#pending.get(key) ?? { path, facts, at: this.#parts.now(), count: 0 };
    one.count++;
    this.#pending.set(key, one);
    if (this.#timer === null) this.#write();
  }

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

  /** If no failures are pending, does not restart the timer, so that the next failure is written at once. */
  #write(): void {
    this.#timer = null;
    if (this.#pending.size === 0) return;
    this.#timer = setTimeout(() => this.#write(), WRITE_INTERVAL_MS).unref();
    const pending = this.#pending;
    this.#pending = new Map();
    this.#writing = this.#writing
      .then(() => this.#writeEntries(pending))
      .catch((err) => {
        const count = sumOf([...pending.values()]);
        this.#parts.log.warn({ err, count }, 'Failed to write failed sign-ins to the audit log');
      });
  }

  async #writeEntries(pending: ReadonlyMap<string | null, FailedSignIn>): Promise<void> {
    const { store } = this.#parts;
    const names = [...pending.keys()].filter((name) => name !== null);
    const rows =
      names.length === 0
        ? []
        : await store.db.selectFrom('auth_user').select('email').where('email', 'in', names).execute();
    const accounts = new Set<string | null>(rows.map(({ email }) => email));
    const known = [...pending].filter(([name]) => accounts.has(name));
    const unknown = [...pending].filter(([name]) => !accounts.has(name)).map(([, one]) => one);
    const entries = known.map(([name, one]) => entryOf(one, name));
    const [first] = unknown;
    if (first !== undefined) entries.push(entryOf({ ...first, count: sumOf(unknown) }, null));
    await transact(store, async (trx) => {
      await writeAudits(trx, await nextVersions(trx, entries.length), entries);
    });
  }
}

const sumOf = (all: readonly FailedSignIn[]): number => all.reduce((sum, { count }) => sum + count, 0);

function entryOf({ path, facts, at, count }: FailedSignIn, account: string | null): AuditEntry {
  const detail = { path, ...(account !== null && { account }), count };
  return { at, actor: 'nobody', action: 'session.refused', detail, ...facts };
}
