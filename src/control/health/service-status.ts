import type { Network } from '../../protocol/call.ts';
import {
  type ServiceStatus,
  type StatusDay,
  type StatusState,
  statusStates,
} from '../../protocol/service-status.ts';
import type { Store } from '../database/store.ts';
import { FailureState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import type { GatewayProblem } from './problem.ts';
import type { ProblemCode } from './problem-codes.ts';
import { readProblems } from './read-problems.ts';

const DAYS = 90;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const REFRESH_MS = 15_000;
/** Problems of other gateways count this long while the database is unreachable. */
const STALE_MS = 60_000;
const INCIDENTS_MAX = 10_000;

/** Problems that callers notice, with the state of the networks concerned. */
const effects: Readonly<Partial<Record<ProblemCode, StatusState>>> = {
  no_ready_node: 'outage',
  error_rate: 'degraded',
  stream_lag: 'degraded',
};

type Incident = Readonly<{
  code: ProblemCode;
  network: Network | null;
  since: number;
  /** null: not over. */
  until: number | null;
}>;

type Snapshot = Readonly<{
  at: number;
  problems: readonly GatewayProblem[];
  incidents: readonly Incident[];
  /** When recording began. */
  recordedSince: number;
}>;

type StatusParts = Readonly<{
  store: Pick<Store, 'db'>;
  networks: () => readonly Network[];
  /** Network of the streams. */
  streamNetwork: Network;
  /** Problems of this gateway, known without the database. */
  ownProblems: () => readonly GatewayProblem[];
  now?: () => number;
}>;

/** State of the networks for the public, from current problems and stored alerts. Works without the database. */
export class StatusReader {
  readonly #parts: StatusParts;
  readonly #now: () => number;
  readonly #refreshing: PeriodicTask;
  #snapshot: Snapshot | null = null;

  constructor(parts: StatusParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    const failures = new FailureState();
    this.#refreshing = new PeriodicTask(() => failures.guard(() => this.#refresh()), REFRESH_MS);
  }

  start(): void {
    this.#refreshing.start();
    void this.#refreshing.run();
  }

  stop(): Promise<void> {
    return this.#refreshing.stop();
  }

  /** Reads the database. Never rejects. */
  refresh(): Promise<void> {
    return this.#refreshing.rerun();
  }

  read(): ServiceStatus {
    const now = this.#now();
    const stored = this.#snapshot;
    const isFresh = stored !== null && now - stored.at < STALE_MS;
    const problems = [...this.#parts.ownProblems(), ...(isFresh ? stored.problems : [])];
    const networks = this.#parts.networks().map((network) => {
      const current = problems.filter((problem) => this.#concerns(problem, network));
      const state = worst(current.map(({ code }) => effects[code] ?? 'operational'));
      return { network, state, ...this.#historyOf(network, stored, now) };
    });
    return {
      state: worst(networks.map(({ state }) => state)),
      updatedAt: new Date(now).toISOString(),
      networks,
    };
  }

  async #refresh(): Promise<void> {
    const now = this.#now();
    const { db } = this.#parts.store;
    const { problems } = await readProblems({ db }, now);
    const rows = await db
      .selectFrom('alert')
      .select(['code', 'network', 'since', 'resolved_at'])
      .where('code', 'in', Object.keys(effects) as ProblemCode[])
      .where(({ eb, or }) => or([eb('resolved_at', 'is', null), eb('resolved_at', '>', firstDay(now))]))
      .orderBy('since', 'desc')
      .limit(INCIDENTS_MAX)
      .execute();
    const first = await db
      .selectFrom('schema_migration')
      .select(({ fn }) => fn.min('applied_at').as('at'))
      .executeTakeFirst();
    const incidents = rows.map(({ resolved_at, ...row }) => ({ ...row, until: resolved_at }));
    this.#snapshot = { at: now, problems, incidents, recordedSince: Number(first?.at ?? now) };
  }

  #concerns({ code, network }: Pick<GatewayProblem, 'code' | 'network'>, of: Network): boolean {
    if (effects[code] === undefined) return false;
    if (code === 'stream_lag') return of === this.#parts.streamNetwork;
    return network === null || network === of;
  }

  #historyOf(network: Network, stored: Snapshot | null, now: number) {
    if (stored === null) return { availability: null, days: [] };
    const { recordedSince } = stored;
    const incidents = stored.incidents.filter((incident) => this.#concerns(incident, network));
    const days = Array.from({ length: DAYS }, (_, at) => {
      const start = firstDay(now) + at * DAY_MS;
      return dayOf(incidents, start, Math.max(start, recordedSince), Math.min(start + DAY_MS, now));
    });
    const recordedMs = now - Math.max(firstDay(now), recordedSince);
    const outageMs = days.reduce((sum, { outageMinutes }) => sum + outageMinutes * MINUTE_MS, 0);
    const availability = recordedMs <= 0 ? null : Math.max(0, 1 - outageMs / recordedMs);
    return { availability, days };
  }
}

/** Start of the oldest day of the history. */
const firstDay = (now: number): number => (Math.floor(now / DAY_MS) - DAYS + 1) * DAY_MS;

const worst = (states: readonly StatusState[]): StatusState =>
  statusStates.findLast((state) => states.includes(state)) ?? 'operational';

/** @param from - start of the recorded part of the day. */
function dayOf(incidents: readonly Incident[], start: number, from: number, to: number): StatusDay {
  const outageMs = durationOf(incidents, ['outage'], from, to);
  const degradedMs = durationOf(incidents, ['outage', 'degraded'], from, to) - outageMs;
  const recordedState = outageMs > 0 ? 'outage' : degradedMs > 0 ? 'degraded' : 'operational';
  return {
    date: new Date(start).toISOString().slice(0, 10),
    state: from >= to ? null : recordedState,
    degradedMinutes: Math.ceil(degradedMs / MINUTE_MS),
    outageMinutes: Math.ceil(outageMs / MINUTE_MS),
  };
}

/** Milliseconds in which at least one incident with one of these effects lasted. */
function durationOf(
  incidents: readonly Incident[],
  states: readonly StatusState[],
  from: number,
  to: number,
): number {
  const spans = incidents
    .filter(({ code }) => states.includes(effects[code] ?? 'operational'))
    .map(({ since, until }) => [Math.max(since, from), Math.min(until ?? to, to)] as const)
    .toSorted(([one], [other]) => one - other);
  let length = 0;
  let end = from;
  for (const [since, until] of spans) {
    length += Math.max(0, until - Math.max(since, end));
    end = Math.max(end, until);
  }
  return length;
}
