import { Failure } from '../../protocol/errors.ts';
import type { RateLimitState } from '../../protocol/request-handler.ts';
import type { KeyRecord, PlanLimits } from '../auth/key-record.ts';
import { STREAM_UNIT_BYTES } from '../metering/usage-meter.ts';

export type QuotaKey = Pick<KeyRecord, 'customerId' | 'planId' | 'limits'> &
  Readonly<{ keyState?: { quotaAccount: LedgerAccount | null } }>;

/**
 * Credits that a plan charges for a method.
 * @param credits - price from the method table, used if the plan sets none.
 */
export function creditsOf({ prices }: Pick<PlanLimits, 'prices'>, method: string, credits: number): number {
  return Object.hasOwn(prices, method) ? (prices[method] as number) : credits;
}

/** Usage of one customer and plan in the current month. */
export type QuotaAccount = Readonly<
  Pick<LedgerAccount, 'customerId' | 'planId' | 'limit' | 'local'> & {
    /** Total credits spent, as far as this process knows. */
    used: number;
  }
>;

/** Credits spent this month by earlier runs of this process and by other gateways. */
export type RemoteUsage = Readonly<{ customerId: string; planId: string; credits: number }>;

export const quotaLedgerOptions = {
  /** Maximum number of accounts, one per customer and plan. Above this, new accounts have no quota. */
  accountsMax: 1_000_000,
};

export class LedgerAccount {
  /** The account is stale once the ledger has moved to another month. */
  readonly month: Month;
  readonly customerId: string;
  readonly planId: string;
  /** Monthly credits of the plan when the account was last used; 0: no quota. */
  limit = 0;
  /** Credits spent in this process. */
  local = 0;
  /** Credits spent outside this process, according to the store. */
  stored = 0;
  /** Credits spent outside this process, according to the other gateways. */
  reported = 0;
  /** Credits reserved by calls in progress. */
  reserved = 0;
  /** Stream usage below one whole credit, in bytes times `streamCredits`. */
  remainder = 0;
  /** What this gateway may spend while it cannot reach the others. `base`: value of `local` when the share was set. */
  share: Share | null = null;
  /** One bit for each change listener that has not yet taken the latest change. */
  dirtyListeners = 0;

  constructor(month: Month, customerId: string, planId: string) {
    this.month = month;
    this.customerId = customerId;
    this.planId = planId;
  }
}

type Share = Readonly<{ base: number; allowance: number }>;

/**
 * Monthly quotas (UTC) per customer and plan, checked in memory. Usage outside this process is reported by the store
 * and by other gateways. Both report the same credits, so only the greater value counts.
 */
export class QuotaLedger {
  readonly #accountsMax: number;
  readonly #customers = new Map<string, Map<string, LedgerAccount>>();
  readonly #changeLists: LedgerAccount[][] = [];
  #size = 0;
  #month = monthOf(0);
  #isNew = true;
  #gateways = 1;

  constructor({ accountsMax = quotaLedgerOptions.accountsMax }: Partial<typeof quotaLedgerOptions> = {}) {
    this.#accountsMax = accountsMax;
  }

  /** Unix milliseconds. */
  get monthStart(): number {
    return this.#month.start;
  }

  /** Reserves credits for a call in progress. @param price - credits to reserve; `spend` releases them. */
  reserve(key: QuotaKey, nowMs: number, price = 0): void {
    const account = this.#accountFor(key, nowMs);
    if (account === null) return;
    if (key.limits.quotaIsHard && isExhausted(account)) throw this.#exceeded(account, nowMs);
    account.reserved += price;
  }

  reserveMore(key: QuotaKey, nowMs: number, credits: number): void {
    const account = this.#accountFor(key, nowMs);
    if (account !== null) account.reserved += credits;
  }

  /** @returns why a connection may not receive more messages; null if it may. */
  exceeded(key: QuotaKey, nowMs: number): Failure | null {
    if (!key.limits.quotaIsHard || key.limits.monthlyCredits <= 0) return null;
    const account = this.#accountFor(key, nowMs);
    return account !== null && isExhausted(account) ? this.#exceeded(account, nowMs) : null;
  }

  /** @param reserved - credits reserved for the call, to be released. */
  spend(key: QuotaKey, credits: number, nowMs: number, reserved = 0): void {
    if (credits <= 0 && reserved <= 0) return;
    const account = this.#accountFor(key, nowMs);
    if (account === null) return;
    // A reservation made last month is gone, so the difference may be negative.
    account.reserved = Math.max(0, account.reserved - reserved);
    this.#add(account, credits);
  }

  /** Charges for stream bytes and carries over the remainder below one credit. @returns the whole credits spent. */
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

  /** Ignores other months, and values that are not above the known ones. @param monthStart - month of the usage. */
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

  /** Like `applyStored`. */
  applyReported({ customerId, planId, credits }: RemoteUsage, monthStart: number): void {
    if (monthStart !== this.#month.start) return;
    const account = this.#findOrCreate(customerId, planId);
    if (account === null || credits <= account.reported) return;
    account.reported = credits;
    this.#markChanged(account);
  }

  /** @param gateways - number by which limits are divided while gateways cannot exchange reports; otherwise 1. */
  setGateways(gateways: number): void {
    this.#gateways = gateways;
    this.#recomputeShares();
  }

  /** @returns a function that lists the accounts changed since it was last called. */
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

  accounts(): QuotaAccount[] {
    return [...this.each()];
  }

  /** Includes accounts added during iteration. */
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
    // Allocate nothing: this runs for each charged call.
    for (let index = 0; index < this.#changeLists.length; index++) {
      const bit = 1 << index;
      if ((account.dirtyListeners & bit) !== 0) continue;
      account.dirtyListeners |= bit;
      this.#changeLists[index]?.push(account);
    }
  }

  /** @returns null if the key has neither a quota nor stream prices, or if `accountsMax` is reached. */
  #accountFor(key: QuotaKey, nowMs: number): LedgerAccount | null {
    const { limits } = key;
    if (limits.monthlyCredits <= 0 && limits.streamCredits <= 0) return null;
    this.#rollOver(nowMs);
    const cached = key.keyState?.quotaAccount ?? null;
    // A month object belongs to one ledger only, so it also identifies the ledger.
    const account = cached?.month === this.#month ? cached : this.#lookUp(key);
    if (account === null) return null;
    account.limit = limits.monthlyCredits;
    if (this.#gateways > 1) account.share ??= this.#shareOf(account);
    return account;
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
    const account = new LedgerAccount(this.#month, customerId, planId);
    plans.set(planId, account);
    this.#size += 1;
    return account;
  }

  /** Moves to the next month once it begins. Keeps the current month if the clock is set back. */
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

const viewOf = (account: LedgerAccount): QuotaAccount => {
  const { customerId, planId, limit, local } = account;
  return { customerId, planId, limit, local, used: usedOf(account) };
};

const usedOf = ({ local, stored, reported }: LedgerAccount): number => local + Math.max(stored, reported);

function isExhausted(account: LedgerAccount): boolean {
  const { limit, local, reserved, share } = account;
  if (limit <= 0) return false;
  if (usedOf(account) + reserved >= limit) return true;
  return share !== null && local + reserved - share.base >= share.allowance;
}

type Month = Readonly<{ start: number; end: number }>;

/** Start and end of the calendar month in UTC. */
export function monthOf(nowMs: number): Month {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}
