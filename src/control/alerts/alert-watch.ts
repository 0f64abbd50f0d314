import type { Store } from '../database/store.ts';
import type { AlertSilenceTable } from '../database/tables/alerts.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { type GatewayProblem, PROBLEMS_MAX, type Problem, problemKey } from '../health/problem.ts';
import { readProblems } from '../health/read-problems.ts';
import { PeriodicTask } from '../periodic-task.ts';
import {
  alertRow,
  isSilenced,
  notifyLate,
  type OpenAlert,
  pruneAlerts,
  raiseAlert,
  readOpenAlerts,
  readSilences,
  resolveAlert,
} from './alert-log.ts';
import type { AlertOptions } from './alert-options.ts';
import type { OutageAlert } from './outage-alert.ts';

const PRUNE_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** How long each key has been present, on a monotonic clock. */
class Presence {
  #since = new Map<string, number>();

  /** @returns the keys that have been present for `minMs`. */
  update(keys: readonly string[], minMs: number, now: number): Set<string> {
    this.#since = new Map(keys.map((key) => [key, this.#since.get(key) ?? now]));
    return new Set(keys.filter((key) => now - (this.#since.get(key) ?? now) >= minMs));
  }
}

type AlertWatchParts = Readonly<{
  store: Store;
  /** Problems of this gateway, known without the database. */
  ownProblems: () => readonly GatewayProblem[];
  outage: OutageAlert;
  /** Starts to deliver queued messages. */
  deliver: () => void;
  options: AlertOptions;
  onState?: OnState;
  clock?: Readonly<{ monotonic: () => number; date: () => number }>;
}>;

const systemClock = { monotonic: () => performance.now(), date: () => Date.now() };

/**
 * Turns lasting problems of the service into alerts. Every gateway watches; the database decides which gateway raises
 * and resolves an alert. While the database is unreachable, `OutageAlert` alerts without it.
 */
export class AlertWatch {
  readonly #parts: AlertWatchParts;
  readonly #clock: NonNullable<AlertWatchParts['clock']>;
  readonly #task: PeriodicTask;
  readonly #present = new Presence();
  readonly #gone = new Presence();
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: AlertWatchParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? systemClock;
    const state = new FailureState(parts.onState);
    this.#task = new PeriodicTask(() => state.guard(() => this.#run()), parts.options.alertIntervalMs);
  }

  start(): void {
    this.#task.start();
  }

  /** Never rejects. */
  check(): Promise<void> {
    return this.#task.run();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #run(): Promise<void> {
    const { ownProblems, outage, options } = this.#parts;
    const cause = ownProblems().find(({ code }) => code === 'database_unavailable');
    const now = this.#clock.date();
    if (cause !== undefined) {
      if (now - cause.since >= options.alertAfterMs) await outage.alert(cause, now);
      return;
    }
    await this.#watch(now);
  }

  async #watch(now: number): Promise<void> {
    const { store, outage } = this.#parts;
    await outage.store(store);
    const { problems, gatewayIds } = await readProblems(store, now);
    const silences = await readSilences(store, now);
    const open = await readOpenAlerts(store);
    await outage.prepare(store, silences, gatewayIds);
    const raised = await this.#raise(problems, open, silences, now);
    const resolved = await this.#resolve(problems, open, now);
    if (raised || resolved) this.#parts.deliver();
    await this.#prune(now);
  }

  async #raise(
    problems: readonly Problem[],
    open: readonly OpenAlert[],
    silences: readonly AlertSilenceTable[],
    now: number,
  ): Promise<boolean> {
    const { store, options } = this.#parts;
    const byKey = new Map(open.map((row) => [row.open_key, row]));
    const keys = problems.map((problem) => problemKey(problem, problem.customer?.id));
    const lasting = this.#present.update(keys, options.alertAfterMs, this.#clock.monotonic());
    let hasQueued = false;
    for (const [index, problem] of problems.entries()) {
      const key = keys[index] ?? '';
      const row = byKey.get(key);
      const silenced = isSilenced(silences, problem.code);
      const isLate = row !== undefined && row.notified_at === null && !silenced;
      if (isLate) hasQueued = (await notifyLate(store, row, now)) || hasQueued;
      if (row !== undefined || !lasting.has(key)) continue;
      hasQueued = (await raiseAlert(store, alertRow(problem, now), silenced, now)) || hasQueued;
    }
    return hasQueued;
  }

  async #resolve(problems: readonly Problem[], open: readonly OpenAlert[], now: number): Promise<boolean> {
    // The list was cut, so a missing problem may still exist.
    if (problems.length >= PROBLEMS_MAX) return false;
    const { store, options } = this.#parts;
    const current = new Set(problems.map((problem) => problemKey(problem, problem.customer?.id)));
    const gone = open.filter(({ open_key }) => !current.has(open_key));
    const keys = gone.map(({ open_key }) => open_key);
    const ended = this.#gone.update(keys, options.resolveAfterMs, this.#clock.monotonic());
    let hasQueued = false;
    for (const row of gone)
      if (ended.has(row.open_key)) hasQueued = (await resolveAlert(store, row, now)) || hasQueued;
    return hasQueued;
  }

  async #prune(now: number): Promise<void> {
    if (this.#clock.monotonic() - this.#prunedAt < PRUNE_INTERVAL_MS) return;
    this.#prunedAt = this.#clock.monotonic();
    const { store, options } = this.#parts;
    await pruneAlerts(store, now - options.alertRetentionDays * DAY_MS, options.resolvedAlertsMax);
  }
}
