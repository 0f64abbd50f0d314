import { randomUUID } from 'node:crypto';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { isSomethingDue, rollUp } from './roll-up.ts';
import { type CheckResult, runChecks } from './usage-checks.ts';
import { acquireLease, isLeased, releaseLease } from './usage-lease.ts';
import { pruneUsage, usageRetention } from './usage-retention.ts';

const usageRollerOptions = {
  retention: usageRetention,
  intervalMs: 5_000,
  /** Lease duration: how long other gateways wait after the holder crashes. */
  leaseMs: 30_000,
  /** Interval between runs of retention and consistency checks. */
  upkeepIntervalMs: 3_600_000,
  now: () => Date.now(),
  onState: (() => undefined) as OnState,
  onViolation: (_check: CheckResult): void => undefined,
};

type UsageRollerOptions = Readonly<typeof usageRollerOptions & { store: Store }>;

const ROLL_UP_LEASE = 'roll-up';
/** Never released, so that upkeep runs at most once per interval across all gateways. */
const UPKEEP_LEASE = 'upkeep';

/** Rolls up, prunes and checks usage. Only one gateway does this at a time. */
export class UsageRoller {
  readonly #holder = randomUUID();
  readonly #options: UsageRollerOptions;
  readonly #state: FailureState;
  readonly #task: PeriodicTask;
  #stopped = false;
  #leasedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Partial<UsageRollerOptions> & Pick<UsageRollerOptions, 'store'>) {
    this.#options = { ...usageRollerOptions, ...options };
    this.#state = new FailureState(this.#options.onState);
    this.#task = new PeriodicTask(
      () => this.#state.guard(() => this.#workIfLeased()),
      this.#options.intervalMs,
    );
  }

  start(): void {
    this.#task.start();
  }

  runOnce(): Promise<void> {
    return this.#task.run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#task.stop();
    await releaseLease(this.#options.store, ROLL_UP_LEASE, this.#holder).catch(() => undefined);
  }

  async #workIfLeased(): Promise<void> {
    const { store, retention, now, onViolation } = this.#options;
    if (!(await this.#hasWork()) || !(await this.#renewLease())) return;
    await rollUp(store, now(), () => this.#shouldContinue());
    if (this.#stopped || !(await this.#claimUpkeep())) return;
    await pruneUsage(store, retention, now());
    for (const check of await runChecks(store, now(), () => this.#shouldContinue())) {
      if (check.violations > 0) onViolation(check);
    }
  }

  async #renewLease(): Promise<boolean> {
    const { store, now, leaseMs } = this.#options;
    const isHolder = await acquireLease(store, ROLL_UP_LEASE, this.#holder, now(), leaseMs);
    this.#leasedAt = isHolder ? performance.now() : Number.NEGATIVE_INFINITY;
    return isHolder;
  }

  /** Also renews the lease once a third of its duration has passed. */
  async #shouldContinue(): Promise<boolean> {
    if (this.#stopped) return false;
    return performance.now() - this.#leasedAt < this.#options.leaseMs / 3 || this.#renewLease();
  }

  /** Only reads the database, because usually there is nothing to do. */
  async #hasWork(): Promise<boolean> {
    const { store, now } = this.#options;
    return (await isSomethingDue(store, now())) || !(await isLeased(store, UPKEEP_LEASE, now()));
  }

  #claimUpkeep(): Promise<boolean> {
    const { store, now, upkeepIntervalMs } = this.#options;
    return acquireLease(store, UPKEEP_LEASE, randomUUID(), now(), upkeepIntervalMs);
  }
}
