import { randomUUID } from 'node:crypto';
import type { Store } from '../database/open.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { isSomethingDue, rollUp } from './roll-up.ts';
import { type CheckResult, runChecks } from './usage-checks.ts';
import { claim, isClaimed, releaseClaim } from './usage-claim.ts';
import { pruneUsage, type UsageRetention, usageRetention } from './usage-retention.ts';

type UsageRollerOptions = Readonly<{
  store: Store;
  retention: UsageRetention;
  intervalMs: number;
  /** Lease duration: how long a crashed gateway delays the next one. */
  claimMs: number;
  /** Interval of retention and consistency checks. */
  upkeepIntervalMs: number;
  now: () => number;
  onState: OnState;
  onViolation: (check: CheckResult) => void;
}>;

const usageRollerOptions = {
  retention: usageRetention,
  intervalMs: 5_000,
  claimMs: 30_000,
  upkeepIntervalMs: 3_600_000,
  now: Date.now,
  onState: () => undefined,
  onViolation: () => undefined,
};

const CLAIM = 'roll-up';
/** Lease for upkeep, not released after use: it also limits the frequency. */
const UPKEEP = 'upkeep';

/** Rolls up, prunes and checks usage; one gateway at a time. */
export class UsageRoller {
  readonly #holder = randomUUID();
  readonly #options: UsageRollerOptions;
  readonly #state: FailureState;
  readonly #task: PeriodicTask;
  #stopped = false;
  #claimedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Partial<UsageRollerOptions> & Pick<UsageRollerOptions, 'store'>) {
    this.#options = { ...usageRollerOptions, ...options };
    this.#state = new FailureState(this.#options.onState);
    this.#task = new PeriodicTask(
      () => this.#state.guard(() => this.#workIfClaimed()),
      this.#options.intervalMs,
    );
  }

  start(): void {
    this.#task.start();
  }

  /** Does pending work unless another gateway holds the lease. Never rejects. */
  round(): Promise<void> {
    return this.#task.run();
  }

  /** Ends after the current bucket and releases the lease. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#task.stop();
    await releaseClaim(this.#options.store, CLAIM, this.#holder).catch(() => undefined);
  }

  async #workIfClaimed(): Promise<void> {
    const { store, retention, now, onViolation } = this.#options;
    if (!(await this.#hasWork()) || !(await this.#claimed())) return;
    await rollUp(store, now(), () => this.#shouldContinue());
    if (this.#stopped || !(await this.#isUpkeepDue())) return;
    await pruneUsage(store, retention, now());
    for (const check of await runChecks(store, now(), () => this.#shouldContinue())) {
      if (check.violations > 0) onViolation(check);
    }
  }

  async #claimed(): Promise<boolean> {
    const { store, now, claimMs } = this.#options;
    const mine = await claim(store, CLAIM, this.#holder, now(), claimMs);
    this.#claimedAt = mine ? performance.now() : Number.NEGATIVE_INFINITY;
    return mine;
  }

  async #shouldContinue(): Promise<boolean> {
    if (this.#stopped) return false;
    return performance.now() - this.#claimedAt < this.#options.claimMs / 3 || this.#claimed();
  }

  /** Reads only: mostly there is nothing to do. */
  async #hasWork(): Promise<boolean> {
    const { store, now } = this.#options;
    return (await isSomethingDue(store, now())) || !(await isClaimed(store, UPKEEP, now()));
  }

  #isUpkeepDue(): Promise<boolean> {
    const { store, now, upkeepIntervalMs } = this.#options;
    return claim(store, UPKEEP, randomUUID(), now(), upkeepIntervalMs);
  }
}
