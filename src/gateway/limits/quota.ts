import { Failure } from '../../protocol/errors.ts';
import type { RateLimitState } from '../../protocol/request-handler.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import { STREAM_UNIT_BYTES } from '../metering/usage-meter.ts';

/** What a quota needs to know of a key. */
export type QuotaKey = Pick<KeyRecord, 'customerId' | 'planId' | 'limits'> &
  Readonly<{ keyState?: { quotaAccount: LedgerAccount | null } }>;

/** What the keys of a customer that have one plan used of a month. */
export type QuotaAccount = Readonly<{
  customerId: string;
  planId: string;
  /** Credits a month; 0: no quota. */
  limit: number;
  /** Credits that were spent in this process. */
  local: number;
  /** Credits in all, as far as this process knows. */
  used: number;
}>;

/** What of the month others used: earlier runs and other gateways. */
export type RemoteUsage = Readonly<{ customerId: string; planId: string; credits: number }>;

export type QuotaLedgerOptions = Readonly<{
  /** Pairs of customer and plan that are counted at a time; the last ones beyond it have no quota. */
  accountsMax: number;
}>;

/** What holds when nothing else is said. */
export const quotaLedgerOptions: QuotaLedgerOptions = { accountsMax: 1_000_000 };

export type LedgerAccount = {
  /** What is counted; with the month it ends. */
  readonly month: Month;
  readonly customerId: string;
  readonly planId: string;
  /** As the plan had it when it was looked at last. */
  limit: number;
  local: number;
  /** As the store knows it. */
  stored: number;
  /** As the other gateways tell it. */
  reported: number;
  /** Of calls that are under way. */
  reserved: number;
  /** Bytes times credits that are less than a whole credit. */
  remainder: number;
  /** What may be spent here while nobody hears of the others, counted from `own`. */
  share: Share | null;
  /** A bit for each listener that is yet to hear of a change. */
  dirtyListeners: number;
};

type Share = Readonly<{ base: number; allowance: number }>;

/**
 * Credits of the calendar month (UTC), which the keys of a customer that have one plan share. Decides in memory; what
 * other gateways and earlier runs used comes in by and by, from the store and from what gateways share. Both tell the
 * same credits, so the greater of the two counts.
 */
export class QuotaLedger {
  readonly #accountsMax: number;
  readonly #customers = new Map<string, Map<string, LedgerAccount>>();
  /** For each listener, the accounts that changed. */
  readonly #changeLists: LedgerAccount[][] = [];
  #size = 0;
  #month = monthOf(0);
  #isNew = true;
  #gateways = 1;

  constructor({ accountsMax = quotaLedgerOptions.accountsMax }: Partial<QuotaLedgerOptions> = {}) {
    this.#accountsMax = accountsMax;
  }

  /** When the month that is counted began, Unix milliseconds. */
  get monthStart(): number {
    return this.#month.start;
  }

  /**
   * Lets a call begin if credits are left; those that are under way count as spent.
   * @param price - what the call will cost if it is answered; given back with `spend`.
   * @throws Failure QUOTA_EXCEEDED, with the facts `limit`, `used` and when it begins anew.
   */
  reserve(key: QuotaKey, nowMs: number, price = 0): void {
    const account = this.#accountFor(key, nowMs);
    if (account === null) return;
    if (key.limits.quotaIsHard && isExhausted(account)) throw this.#exceeded(account, nowMs);
    account.reserved += price;
  }

  /** Counts more credits as spent for a call that `check` has let begin. */
  reserveMore(key: QuotaKey, nowMs: number, credits: number): void {
    const account = this.#accountFor(key, nowMs);
    if (account !== null) account.reserved += credits;
  }

  /** Why nothing more may be sent to a connection of this key; null while credits are left. */
  exceeded(key: QuotaKey, nowMs: number): Failure | null {
    if (!key.limits.quotaIsHard || key.limits.monthlyCredits <= 0) return null;
    const account = this.#accountFor(key, nowMs);
    return account !== null && isExhausted(account) ? this.#exceeded(account, nowMs) : null;
  }

  /**
   * Adds what a call cost.
   * @param held - what `check` and `hold` were told that it would cost.
   */
  spend(key: QuotaKey, credits: number, nowMs: number, reserved = 0): void {
    if (credits <= 0 && reserved <= 0) return;
    const account = this.#accountFor(key, nowMs);
    if (account === null) return;
    // What was held before the month turned is not held any more.
    account.reserved = Math.max(0, account.reserved - reserved);
    this.#add(account, credits);
  }

  /**
   * Adds what messages cost that were sent without being asked for, by their bytes. What is less than a credit is
   * carried on.
   * @returns whole credits.
   */
  spendBytes(key: QuotaKey, bytes: number, nowMs: number): number {
    const { streamCredits } = key.limits;
    if (streamCredits <= 0) return 0;
    const account = this.#accountFor(key, nowMs);
    if (account === null) return 0;
    const remainder = account.remainder + bytes * streamCredits;
    const credits = Math.floor(remainder / STREAM_UNIT_BYTES);
    account.remainder = remainder - credits * STREAM_UNIT_BYTES;
    this.#add(account, credits);
    return credits;
  }

  /** Where the key stands in the month, as limits are shown; null where it has no quota. */
  status(key: QuotaKey, nowMs: number): RateLimitState | null {
    if (key.limits.monthlyCredits <= 0) return null;
    const account = this.#accountFor(key, nowMs);
    if (account === null) return null;
    return {
      limit: account.limit,
      remaining: Math.max(0, account.limit - usedOf(account)),
      windowSeconds: (this.#month.end - this.#month.start) / 1_000,
      resetSeconds: Math.max(1, Math.ceil((this.#month.end - nowMs) / 1_000)),
    };
  }

  /** Takes in what the store knows to be used elsewhere. It never takes back. @param monthStart - as of `monthStart`. */
  applyStored(used: readonly RemoteUsage[], monthStart: number, nowMs: number): void {
    this.#rollOver(nowMs);
    if (monthStart !== this.#month.start) return;
    for (const { customerId, planId, credits } of used) {
      const account = this.#findOrCreate(customerId, planId);
      if (account === null || credits <= account.stored) continue;
      account.stored = credits;
      this.#markChanged(account);
    }
    this.#recomputeShares();
  }

  /** Takes in what the other gateways tell that they spent; as `learnStored`. */
  applyReported({ customerId, planId, credits }: RemoteUsage, monthStart: number): void {
    if (monthStart !== this.#month.start) return;
    const account = this.#findOrCreate(customerId, planId);
    if (account === null || credits <= account.reported) return;
    account.reported = credits;
    this.#markChanged(account);
  }

  /**
   * From now on each of so many gateways may spend its part of what is left, since none hears of the others; 1: they
   * hear of each other.
   */
  divide(gateways: number): void {
    this.#gateways = gateways;
    this.#recomputeShares();
  }

  /** @returns what gives the accounts that changed since it was called last; each listener has its own. */
  trackChanges(): () => QuotaAccount[] {
    const list: LedgerAccount[] = [];
    const bit = 1 << this.#changeLists.length;
    this.#changeLists.push(list);
    return () =>
      list.splice(0).map((account) => {
        account.dirtyListeners &= ~bit;
        return viewOf(account);
      });
  }

  /** All accounts of this month. */
  accounts(): QuotaAccount[] {
    return [...this.each()];
  }

  /** The same one by one, as each is when its turn comes; those that come meanwhile are among them. */
  *each(): Generator<QuotaAccount> {
    for (const account of this.#all()) yield viewOf(account);
  }

  *#all(): Generator<LedgerAccount> {
    for (const plans of this.#customers.values()) yield* plans.values();
  }

  #exceeded(account: LedgerAccount, nowMs: number): Failure {
    const { start, end } = this.#month;
    const facts = {
      limit: account.limit,
      used: usedOf(account),
      windowSeconds: (end - start) / 1_000,
      resetsAt: new Date(end).toISOString(),
    };
    return new Failure('QUOTA_EXCEEDED', {
      facts,
      retryAfter: Math.max(1, Math.ceil((end - nowMs) / 1_000)),
    });
  }

  #add(account: LedgerAccount, credits: number): void {
    if (credits <= 0) return;
    account.local += credits;
    this.#markChanged(account);
  }

  #markChanged(account: LedgerAccount): void {
    // With each call that is charged: nothing is made here.
    for (let index = 0; index < this.#changeLists.length; index++) {
      const bit = 1 << index;
      if ((account.dirtyListeners & bit) !== 0) continue;
      account.dirtyListeners |= bit;
      this.#changeLists[index]?.push(account);
    }
  }

  /** The account of a key that has a quota, or messages that cost something; null for others, or without room. */
  #accountFor(key: QuotaKey, nowMs: number): LedgerAccount | null {
    const { limits } = key;
    if (limits.monthlyCredits <= 0 && limits.streamCredits <= 0) return null;
    this.#rollOver(nowMs);
    const account = this.#cachedAccount(key) ?? this.#lookUp(key);
    if (account === null) return null;
    account.limit = limits.monthlyCredits;
    if (this.#gateways > 1) account.share ??= this.#shareOf(account);
    return account;
  }

  /** The account that was found last for the key, if it still is the one. A month is of one ledger alone. */
  #cachedAccount({ keyState }: QuotaKey): LedgerAccount | null {
    const account = keyState === undefined ? null : keyState.quotaAccount;
    return account !== null && account.month === this.#month ? account : null;
  }

  #lookUp({ customerId, planId, keyState }: QuotaKey): LedgerAccount | null {
    const account = this.#findOrCreate(customerId, planId);
    if (keyState !== undefined) keyState.quotaAccount = account;
    return account;
  }

  #findOrCreate(customerId: string, planId: string): LedgerAccount | null {
    let plans = this.#customers.get(customerId);
    const existing = plans?.get(planId);
    if (existing !== undefined) return existing;
    if (this.#size >= this.#accountsMax) return null;
    if (plans === undefined) {
      plans = new Map();
      this.#customers.set(customerId, plans);
    }
    const account = createAccount(customerId, planId, this.#month);
    plans.set(planId, account);
    this.#size += 1;
    return account;
  }

  /** Begins anew when the month is over. A clock that is set back stays in the month that was reached. */
  #rollOver(nowMs: number): void {
    if (nowMs < this.#month.end && !this.#isNew) return;
    this.#month = monthOf(nowMs);
    this.#isNew = false;
    for (const list of this.#changeLists) list.length = 0;
    this.#customers.clear();
    this.#size = 0;
  }

  #recomputeShares(): void {
    for (const account of this.#all()) {
      account.share = this.#gateways > 1 && account.limit > 0 ? this.#shareOf(account) : null;
    }
  }

  #shareOf(account: LedgerAccount): Share {
    return { base: account.local, allowance: Math.max(0, account.limit - usedOf(account)) / this.#gateways };
  }
}

const createAccount = (customerId: string, planId: string, month: Month): LedgerAccount => ({
  month,
  customerId,
  planId,
  limit: 0,
  local: 0,
  stored: 0,
  reported: 0,
  reserved: 0,
  remainder: 0,
  share: null,
  dirtyListeners: 0,
});

const viewOf = (account: LedgerAccount): QuotaAccount => {
  const { customerId, planId, limit, local } = account;
  return { customerId, planId, limit, local, used: usedOf(account) };
};

const usedOf = ({ local, stored, reported }: LedgerAccount): number => local + Math.max(stored, reported);

/** Whether nothing is left for another call, with those that are under way. */
function isExhausted(account: LedgerAccount): boolean {
  const { limit, local, reserved, share } = account;
  if (limit <= 0) return false;
  if (usedOf(account) + reserved >= limit) return true;
  return share !== null && local + reserved - share.base >= share.allowance;
}

type Month = Readonly<{ start: number; end: number }>;

/** The calendar month in UTC. */
export function monthOf(nowMs: number): Month {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}
