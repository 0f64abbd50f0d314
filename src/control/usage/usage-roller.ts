import { randomUUID } from 'node:crypto';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { databaseRollUps, hasDueBuckets, type RollUp, rollUp } from './roll-up.ts';
import { RollUpFailures } from './roll-up-failures.ts';
import { acquireLease, isLeased, releaseLease } from './usage-lease.ts';

const usageRollerOptions = {
  rollUps: databaseRollUps as readonly RollUp[],
  /** Runs at most once per interval across all gateways. */
  upkeep: async (_nowMs: number, _shouldContinue: () => Promise<boolean>): Promise<void> => undefined,
  /**
   * Distinguishes the leases of rollers. Versions before schema 28, whose roll-ups of minutes fail since then, use other
   * leases, so that they do not keep this version from its work.
   */
  leasePrefix: 'database ',
  intervalMs: 5_000,
  /** Lease duration: how long other gateways wait after the holder crashes. */
  leaseMs: 30_000,
  upkeepIntervalMs: 3_600_000,
  now: () => Date.now(),
  onState: (() => undefined) as OnState,
};

type UsageRollerOptions = Readonly<typeof usageRollerOptions & { store: Store }>;

const ROLL_UP_LEASE = 'roll-up';
/** Never released. */
const UPKEEP_LEASE = 'upkeep';

/** Rolls up usage, and does its upkeep. Only one gateway does this at a time. */
export class UsageRoller {
  readonly #holder = randomUUID();
  readonly #options: UsageRollerOptions;
  readonly #state: FailureState;
  readonly #failures: RollUpFailures;
  readonly #task: PeriodicTask;
  #stopped = false;
  #leasedAt = Number.NEGATIVE_INFINITY;

  constructor(options: Partial<UsageRollerOptions> & Pick<UsageRollerOptions, 'store'>) {
    this.#options = { ...usageRollerOptions, ...options };
    this.#state = new FailureState(this.#options.onState);
    this.#failures = new RollUpFailures(this.#options.now);
    this.#task = new PeriodicTask(
      () => this.#state.guard(() => this.#workIfLeased()),
      this.#options.intervalMs,
    );
  }

  /** Whether some usage failed to be rolled up several times in a row. */
  get isIncomplete(): boolean {
    return this.#failures.isPersistent;
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
    await releaseLease(this.#options.store, this.#lease(ROLL_UP_LEASE), this.#holder).catch(() => undefined);
  }

  #lease(name: string): string {
    return this.#options.leasePrefix + name;
  }

  async #workIfLeased(): Promise<void> {
    const { store, now, rollUps, upkeep } = this.#options;
    const shouldContinue = () => this.#shouldContinue();
    if (!(await this.#hasWork()) || !(await this.#renewLease())) {
      this.#failures.clear();
      return;
    }
    try {
      await rollUp(store, now(), shouldContinue, rollUps, this.#failures);
    } finally {
      if (!this.#stopped && (await this.#claimUpkeep())) await upkeep(now(), shouldContinue);
    }
  }

  async #renewLease(): Promise<boolean> {
    const { store, now, leaseMs } = this.#options;
    const isHolder = await acquireLease(store, this.#lease(ROLL_UP_LEASE), this.#holder, now(), leaseMs);
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
    const { store, now, rollUps } = this.#options;
    const isDue = await hasDueBuckets(store, now(), rollUps);
    return isDue || !(await isLeased(store, this.#lease(UPKEEP_LEASE), now()));
  }

  #claimUpkeep(): Promise<boolean> {
    const { store, now, upkeepIntervalMs } = this.#options;
    return acquireLease(store, this.#lease(UPKEEP_LEASE), randomUUID(), now(), upkeepIntervalMs);
  }
}
