import { randomUUID } from 'node:crypto';
import type { Store } from '../database/open.ts';
import { isSomethingDue, rollUp } from './roll-up.ts';
import { type CheckResult, runChecks } from './usage-checks.ts';
import { claim, isClaimed, releaseClaim } from './usage-claim.ts';
import { pruneUsage, type UsageRetention, usageRetention } from './usage-retention.ts';

export type UsageRollerOptions = Readonly<{
  store: Store;
  retention?: UsageRetention;
  intervalMs?: number;
  /** Lease duration: how long a crashed gateway delays the next one. */
  claimMs?: number;
  /** Interval of retention and consistency checks. */
  upkeepIntervalMs?: number;
  now?: () => number;
  /** Called with the error when work starts to fail, and with null when it works again. */
  onState?: (error: unknown | null) => void;
  onViolation?: (check: CheckResult) => void;
}>;

export const usageRollerOptions = {
  intervalMs: 5_000,
  claimMs: 30_000,
  upkeepIntervalMs: 3_600_000,
} as const;

const CLAIM = 'roll-up';
/** Lease for upkeep, not released after use: it also limits the frequency. */
const UPKEEP = 'upkeep';

/** Rolls up, prunes and checks usage; one gateway at a time. */
export class UsageRoller {
  readonly #holder = randomUUID();
  readonly #store: Store;
  readonly #retention: UsageRetention;
  readonly #intervalMs: number;
  readonly #claimMs: number;
  readonly #upkeepIntervalMs: number;
  readonly #now: () => number;
  readonly #onState: NonNullable<UsageRollerOptions['onState']>;
  readonly #onViolation: NonNullable<UsageRollerOptions['onViolation']>;
  #failing = false;
  #stopped = false;
  #claimedAt = Number.NEGATIVE_INFINITY;
  #round: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: UsageRollerOptions) {
    this.#store = options.store;
    this.#retention = options.retention ?? usageRetention;
    this.#intervalMs = options.intervalMs ?? usageRollerOptions.intervalMs;
    this.#claimMs = options.claimMs ?? usageRollerOptions.claimMs;
    this.#upkeepIntervalMs = options.upkeepIntervalMs ?? usageRollerOptions.upkeepIntervalMs;
    this.#now = options.now ?? Date.now;
    this.#onState = options.onState ?? (() => undefined);
    this.#onViolation = options.onViolation ?? (() => undefined);
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.round(), this.#intervalMs);
  }

  /** Does pending work unless another gateway holds the lease. Never rejects. */
  round(): Promise<void> {
    this.#round ??= this.#tryRound().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** Ends after the current bucket and releases the lease. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#round;
    await releaseClaim(this.#store, CLAIM, this.#holder).catch(() => undefined);
  }

  async #tryRound(): Promise<void> {
    try {
      if ((await this.#hasWork()) && (await this.#claimed())) await this.#work();
      if (this.#failing) this.#onState(null);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#onState(error);
      this.#failing = true;
    }
  }

  async #work(): Promise<void> {
    await rollUp(this.#store, this.#now(), () => this.#shouldContinue());
    if (this.#stopped || !(await this.#isUpkeepDue())) return;
    await pruneUsage(this.#store, this.#retention, this.#now());
    for (const check of await runChecks(this.#store, this.#now(), () => this.#shouldContinue())) {
      if (check.violations > 0) this.#onViolation(check);
    }
  }

  async #claimed(): Promise<boolean> {
    const mine = await claim(this.#store, CLAIM, this.#holder, this.#now(), this.#claimMs);
    this.#claimedAt = mine ? performance.now() : Number.NEGATIVE_INFINITY;
    return mine;
  }

  async #shouldContinue(): Promise<boolean> {
    if (this.#stopped) return false;
    return performance.now() - this.#claimedAt < this.#claimMs / 3 || this.#claimed();
  }

  /** Reads only: mostly there is nothing to do. */
  async #hasWork(): Promise<boolean> {
    const now = this.#now();
    return (await isSomethingDue(this.#store, now)) || !(await isClaimed(this.#store, UPKEEP, now));
  }

  #isUpkeepDue(): Promise<boolean> {
    return claim(this.#store, UPKEEP, randomUUID(), this.#now(), this.#upkeepIntervalMs);
  }
}
