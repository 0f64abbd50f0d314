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

/** IPv6 attempts count per /64, the smallest usual allocation. */
export const subnetOf = (address: string): string => parseIpAddress(address)?.site ?? address;

/** @throws ApiError 429 */
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
 * Limits failed attempts per account and subnet. Attempts from a source that signed in to the account before
 * are counted apart, so that attackers cannot lock the user out.
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

  /**
   * @param group - prefix of the counters, for attempts that are counted apart.
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
        // Not reset: otherwise signing in to an own account would reset attempts at others.
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

  signedIn(account: string, address: string): void {
    this.#trustedSources.set(sourceKey(account, subnetOf(address)), true);
  }
}

/** Subnets contain no space, so names are unambiguous. */
const sourceKey = (account: string, subnet: string): string => `${subnet} ${account}`;

/** Milliseconds between two writes, and accounts with an entry of their own; all others share one. */
const failedSignInLogLimits = { intervalMs: 60_000, accountsMax: 100 };
type FailedSignInLogLimits = Readonly<typeof failedSignInLogLimits>;

type FailedSignIn = { path: string; facts: RequestMetadata; at: number; count: number };

type FailedSignInLogOptions = Readonly<{ store: Store; now: () => number; log: Logger }>;

/**
 * Writes failed sign-ins to the audit log: one entry per account and minute with a count, and one for all
 * unknown accounts. The log is never pruned, so attackers must not be able to fill it. Responses do not wait
 * for the write, which would reveal existing accounts.
 */
export class FailedSignInLog {
  readonly #parts: FailedSignInLogOptions;
  readonly #limits: FailedSignInLogLimits;
  #byAccount = new Map<string, FailedSignIn>();
  #others: FailedSignIn | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: FailedSignInLogOptions, limits: Partial<FailedSignInLogLimits> = {}) {
    this.#parts = parts;
    this.#limits = { ...failedSignInLogLimits, ...limits };
  }

  /** @param account - account name as sent by the client; null: none. */
  record(path: string, account: string | null, facts: RequestMetadata): void {
    const one = { path, facts, at: this.#parts.now(), count: 1 };
    const existing = account === null ? undefined : this.#byAccount.get(account);
    if (existing !== undefined) existing.count += 1;
    else if (account !== null && this.#byAccount.size < this.#limits.accountsMax)
      this.#byAccount.set(account, one);
    else this.#others = mergeCounts(this.#others, one);
    if (this.#timer === null) this.#write();
  }

  /** Writes pending entries. Never rejects. */
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

  /** Writes pending entries and schedules the next write; when idle, waits for the next failure. */
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
        this.#parts.log.warn({ err, count }, 'Failed to write failed sign-ins to the audit log');
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

function entryOf({ path, facts, at, count }: FailedSignIn, account: string | null): AuditEntry {
  const detail = { path, ...(account !== null && { account }), count };
  return { at, actor: 'nobody', action: 'session.refused', detail, ...facts };
}
