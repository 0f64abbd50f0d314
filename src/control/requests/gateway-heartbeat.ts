import { randomBytes } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import type { ConnectionInfo, LaggedMinute } from '../../gateway/telemetry/live-connections.ts';
import type { Network } from '../../protocol/call.ts';
import { fieldsOf, selectRows, updateRows, upsertRow } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { ConnectionTable, LaggedMinuteTable } from '../database/tables/requests.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { type GatewayProblem, problemKey } from '../health/problem.ts';
import { PeriodicTask } from '../periodic-task.ts';

type GatewayRow = Readonly<{ id: string; seen_at: number }>;

/**
 * Returns a function that finds gateways whose row has not changed for `afterMs`. `now` is in milliseconds on a
 * monotonic clock. The function uses only this local clock, because the clocks of other machines may be wrong.
 */
export function deadGatewayDetector(afterMs: number): (rows: readonly GatewayRow[], now: number) => string[] {
  /** Last heartbeat of each gateway, and the local time at which this heartbeat was first seen. */
  const observed = new Map<string, Readonly<{ seenAt: number; at: number }>>();
  let checkedAt = Number.NEGATIVE_INFINITY;
  return (rows, now) => {
    // If this process itself has stalled, the recorded times say nothing about other gateways.
    if (now - checkedAt > afterMs) observed.clear();
    checkedAt = now;
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of observed.keys()) if (!ids.has(id)) observed.delete(id);
    return rows.flatMap(({ id, seen_at: seenAt }) => {
      const last = observed.get(id);
      if (last?.seenAt === seenAt) return now - last.at > afterMs ? [id] : [];
      observed.set(id, { seenAt, at: now });
      return [];
    });
  };
}

export type NodeCordon = Readonly<{
  network: Network;
  node: string;
  reason: string;
  /** A drained node receives no calls, even if no other node is left. */
  isDrain: boolean;
}>;

async function readCordons({ db }: Store): Promise<NodeCordon[]> {
  const rows = await selectRows(db, 'node_cordon', {}).limit(1_000).execute();
  return rows.map((row) => ({ ...fieldsOf(row, 'network', 'node', 'reason'), isDrain: row.is_drain === 1 }));
}

export type GatewayHooks = Readonly<{
  /** State of the nodes, JSON-serializable. */
  nodes: () => readonly object[];
  /** A new or resolved problem is reported at once. */
  problems: () => readonly GatewayProblem[];
  /** At most `max` open connections, busiest first. */
  connections: (max: number) => readonly ConnectionInfo[];
  /** Connections closed because the client read too slowly: running totals per minute. */
  laggedMinutes: () => readonly LaggedMinute[];
  setCordons: (cordons: readonly NodeCordon[]) => void;
  closeConnection: (id: string) => void;
}>;

export const heartbeatOptions = {
  heartbeatMs: 2_000,
  checkIntervalMs: 400,
  connectionsMax: 1_000,
  /** Time without a heartbeat after which a gateway counts as dead. */
  goneAfterMs: 10_000,
  onState: (() => undefined) as OnState,
  /** Monotonic clock, in milliseconds. */
  now: () => performance.now(),
};

export type HeartbeatOptions = Readonly<typeof heartbeatOptions>;

const MINUTE_MS = 60_000;
/** Longer than the displayed hour, to allow for clock differences. */
const LAGGED_RETENTION_MS = 120 * MINUTE_MS;
/** Rows per statement: few enough that other statements wait for only a few milliseconds. */
const BATCH_ROWS = 25;
const GATEWAYS_MAX = 1_000;

type ConnectionRow = Insertable<ConnectionTable>;
type LaggedRow = Insertable<LaggedMinuteTable>;

const nameOf = ({ customer_id, minute }: LaggedRow): string => `${minute} ${customer_id}`;

/** Reports the state of this gateway to the store and carries out requested actions. */
export class GatewayHeartbeat {
  readonly id: string;
  readonly #store: Store;
  readonly #hooks: GatewayHooks;
  readonly #row: Readonly<{ host: string; version: string; started_at: number }>;
  readonly #options: HeartbeatOptions;
  readonly #findDead: ReturnType<typeof deadGatewayDetector>;
  /** Reported facts by connection; null while a write is unconfirmed. */
  readonly #reportedFacts = new Map<string, string | null>();
  readonly #reportedLagged = new Map<string, number>();
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** Keys of the problems in the last report. */
  #reportedProblems = '';
  #url: string | null = null;
  readonly #task: PeriodicTask;

  constructor(
    store: Store,
    hooks: GatewayHooks,
    self: Readonly<{ host: string; version: string }>,
    options: Partial<HeartbeatOptions> = {},
  ) {
    this.#store = store;
    this.#hooks = hooks;
    this.#options = { ...heartbeatOptions, ...options };
    const state = new FailureState(this.#options.onState);
    this.#task = new PeriodicTask(() => state.guard(() => this.#refresh()), this.#options.checkIntervalMs);
    this.#findDead = deadGatewayDetector(this.#options.goneAfterMs);
    this.#row = { ...self, started_at: Date.now() };
    this.id = `${self.host.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  }

  /** Starts the heartbeat. Resolves after the first attempt, successful or not. */
  async start(): Promise<void> {
    await this.refresh();
    this.#task.start();
  }

  /** Sets the URL at which this gateway can be reached from its own machine. */
  setUrl(url: string): void {
    this.#url = url;
    this.#reportedAt = Number.NEGATIVE_INFINITY;
  }

  /** Carries out requested actions, and sends a heartbeat if one is due. Never rejects. */
  refresh(): Promise<void> {
    return this.#task.run();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#forget([this.id]).catch(() => {});
  }

  async #refresh(): Promise<void> {
    await this.#applyCommands();
    const now = performance.now();
    const problems = this.#hooks.problems();
    const keys = problems.map((problem) => problemKey(problem)).join();
    if (now - this.#reportedAt < this.#options.heartbeatMs && keys === this.#reportedProblems) return;
    this.#reportedAt = now;
    await this.#report(Date.now(), problems);
    this.#reportedProblems = keys;
  }

  async #applyCommands(): Promise<void> {
    const { db } = this.#store;
    this.#hooks.setCordons(await readCordons(this.#store));
    const closeRequests = await selectRows(db, 'connection_close', { gateway: this.id })
      .limit(1_000)
      .execute();
    if (closeRequests.length === 0) return;
    const ids = closeRequests.map(({ connection_id }) => connection_id);
    for (const id of ids) {
      this.#hooks.closeConnection(id);
      this.#reportedFacts.delete(id);
    }
    await db.deleteFrom('connection_close').where('connection_id', 'in', ids).execute();
    await db.deleteFrom('connection').where('id', 'in', ids).execute();
  }

  async #report(now: number, problems: readonly GatewayProblem[]): Promise<void> {
    const { db } = this.#store;
    const columns = {
      ...{ seen_at: now, url: this.#url },
      ...{ nodes: JSON.stringify(this.#hooks.nodes()), problems: JSON.stringify(problems) },
    };
    if ((await updateRows(db, 'gateway', { id: this.id }, columns)) === 0) {
      // This gateway is new, or another gateway declared it dead and deleted its connections.
      this.#reportedFacts.clear();
      await upsertRow(db, 'gateway', { id: this.id }, columns, this.#row);
    }
    await this.#reportConnections(now);
    await this.#reportLagged();
    await this.#sweep(now);
  }

  /** Writes only changes. */
  async #reportConnections(now: number): Promise<void> {
    const open = this.#hooks.connections(this.#options.connectionsMax);
    for (const batch of chunk(open, BATCH_ROWS)) {
      const rows = batch.map((facts) => this.#connectionRow(facts, now));
      await this.#writeConnections(rows.filter(({ id, facts }) => this.#reportedFacts.get(id) !== facts));
    }
    const ids = new Set(open.map(({ id }) => id));
    const gone = [...this.#reportedFacts.keys()].filter((id) => !ids.has(id));
    for (const closed of chunk(gone, BATCH_ROWS)) {
      await this.#store.db.deleteFrom('connection').where('id', 'in', closed).execute();
      for (const id of closed) this.#reportedFacts.delete(id);
    }
  }

  #connectionRow(connection: ConnectionInfo, now: number): ConnectionRow {
    const { id, customerId, keyId, kind, ...facts } = connection;
    const own = { id, gateway: this.id, customer_id: customerId, key_id: keyId, kind, told_at: now };
    return { ...own, facts: JSON.stringify(facts) };
  }

  async #writeConnections(rows: readonly ConnectionRow[]): Promise<void> {
    if (rows.length === 0) return;
    for (const { id } of rows) this.#reportedFacts.set(id, null);
    await this.#store.db
      .insertInto('connection')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ told_at: sql.ref('excluded.told_at'), facts: sql.ref('excluded.facts') }),
      )
      .execute();
    for (const { id, facts } of rows) this.#reportedFacts.set(id, facts);
  }

  async #reportLagged(): Promise<void> {
    const rows: LaggedRow[] = this.#hooks
      .laggedMinutes()
      .map(({ customerId, ...counted }) => ({ gateway: this.id, customer_id: customerId, ...counted }));
    const names = new Set(rows.map(nameOf));
    for (const name of this.#reportedLagged.keys()) if (!names.has(name)) this.#reportedLagged.delete(name);
    const changed = rows.filter((row) => this.#reportedLagged.get(nameOf(row)) !== row.connections);
    for (const batch of chunk(changed, BATCH_ROWS)) {
      await this.#store.db
        .insertInto('lagged_minute')
        .values(batch)
        .onConflict((conflict) =>
          conflict
            .columns(['customer_id', 'minute', 'gateway'])
            .doUpdateSet({ connections: sql.ref('excluded.connections') }),
        )
        .execute();
      for (const row of batch) this.#reportedLagged.set(nameOf(row), row.connections);
    }
  }

  async #sweep(now: number): Promise<void> {
    const { db } = this.#store;
    const gateways = await db.selectFrom('gateway').select(['id', 'seen_at']).limit(GATEWAYS_MAX).execute();
    const deadIds = this.#findDead(gateways, this.#options.now());
    if (deadIds.length > 0) await this.#forget(deadIds);
    // Removes close requests for connections of removed gateways.
    await db
      .deleteFrom('connection_close')
      .where('gateway', 'not in', (query) => query.selectFrom('gateway').select('id'))
      .execute();
    await db
      .deleteFrom('lagged_minute')
      .where('minute', '<', Math.floor((now - LAGGED_RETENTION_MS) / MINUTE_MS))
      .execute();
  }

  async #forget(gateways: readonly string[]): Promise<void> {
    const { db } = this.#store;
    await db.deleteFrom('connection').where('gateway', 'in', gateways).execute();
    await db.deleteFrom('connection_close').where('gateway', 'in', gateways).execute();
    await db.deleteFrom('gateway').where('id', 'in', gateways).execute();
  }
}
