import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { type Insertable, sql } from 'kysely';
import type { ConnectionFacts, LaggedMinute } from '../../observe/live-connections.ts';
import type { Store } from '../database/open.ts';
import type { ConnectionTable, LaggedMinuteTable } from '../database/tables/requests.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { type NodeCordon, readCordons } from './node-cordons.ts';
import { SilentGateways } from './silent-gateways.ts';

/** What a gateway has to tell and can be told to do; other floors hand it in. */
export type GatewayWorks = Readonly<{
  /** Its nodes, as it sees them, ready to be written as JSON. */
  nodes: () => readonly object[];
  /** Its open connections, at most so many, the busiest first. */
  connections: (max: number) => readonly ConnectionFacts[];
  /** Totals of the minutes in which connections were cut for lag, however often they were told. */
  laggedMinutes: () => readonly LaggedMinute[];
  /** Puts exactly these nodes out of service. */
  setCordons: (cordons: readonly NodeCordon[]) => void;
  closeConnection: (id: string) => void;
}>;

/** How gateways tell of themselves. */
export type PresenceOptions = Readonly<{
  /** How often a gateway tells of itself, its nodes and its connections. */
  heartbeatMs: number;
  /** How often it looks for what it is to do: cordon nodes, close connections. */
  lookIntervalMs: number;
  /** Connections that one gateway shows. */
  connectionsMax: number;
  /** A gateway that told nothing for so long is gone, and its connections with it. */
  goneAfterMs: number;
  onState: OnState;
  /** Milliseconds by a clock that is never set. */
  now: () => number;
}>;

/** What holds when nothing else is said. */
export const presenceOptions: PresenceOptions = {
  heartbeatMs: 2_000,
  lookIntervalMs: 400,
  connectionsMax: 1_000,
  goneAfterMs: 10_000,
  onState: () => undefined,
  now: () => performance.now(),
};

const MINUTE_MS = 60_000;
/** Counts of laggards are forgotten after this: an hour is shown, and clocks differ. */
const KEPT_MS = 120 * MINUTE_MS;
/** Rows per statement, small enough that an embedded store blocks for a few milliseconds. */
const BATCH_ROWS = 25;
/** Gateways that are looked at. */
const GATEWAYS_MAX = 1_000;

type ConnectionRow = Insertable<ConnectionTable>;
type LaggedRow = Insertable<LaggedMinuteTable>;

function* batchesOf<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += BATCH_ROWS) yield items.slice(from, from + BATCH_ROWS);
}

const nameOf = ({ customer_id, minute }: LaggedRow): string => `${minute} ${customer_id}`;

/** Tells the store that this gateway is there, and does what the store has for it to do. */
export class GatewayPresence {
  /** Names this run of this process. */
  readonly id: string;
  readonly #store: Store;
  readonly #works: GatewayWorks;
  readonly #row: Readonly<{ host: string; version: string; started_at: number }>;
  readonly #options: PresenceOptions;
  readonly #state: FailureState;
  readonly #silent: SilentGateways;
  /** Facts of each connection as the store has them; null while it is not known whether it has. */
  readonly #told = new Map<string, string | null>();
  readonly #laggedTold = new Map<string, number>();
  #toldAt = Number.NEGATIVE_INFINITY;
  #url: string | null = null;
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    store: Store,
    works: GatewayWorks,
    self: Readonly<{ host: string; version: string }>,
    options: Partial<PresenceOptions> = {},
  ) {
    this.#store = store;
    this.#works = works;
    this.#options = { ...presenceOptions, ...options };
    this.#state = new FailureState(this.#options.onState);
    this.#silent = new SilentGateways(this.#options.goneAfterMs);
    this.#row = { ...self, started_at: Date.now() };
    this.id = `${self.host.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  }

  /** Tells at once, then goes on. Resolves after the first attempt, whether the store answered or not. */
  async start(): Promise<void> {
    await this.refresh();
    this.#timer ??= setInterval(() => void this.refresh(), this.#options.lookIntervalMs);
  }

  /** Its doors are open: it answers there, as this machine reaches it. Told at the next look. */
  reachedAt(url: string): void {
    this.#url = url;
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }

  /** Looks for what is to be done, and tells what is due. Never rejects. */
  refresh(): Promise<void> {
    this.#looking ??= this.#turn()
      .then(
        () => this.#state.tell(null),
        (error: unknown) => this.#state.tell(error),
      )
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  /** Takes its rows out of the store. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#looking;
    await this.#forget([this.id]).catch(() => {});
  }

  async #turn(): Promise<void> {
    await this.#obey();
    const now = performance.now();
    if (now - this.#toldAt < this.#options.heartbeatMs) return;
    this.#toldAt = now;
    await this.#tell(Date.now());
  }

  async #obey(): Promise<void> {
    const { db } = this.#store;
    this.#works.setCordons(await readCordons(this.#store));
    const asked = await db
      .selectFrom('connection_close')
      .select('connection_id')
      .where('gateway', '=', this.id)
      .limit(1_000)
      .execute();
    if (asked.length === 0) return;
    const ids = asked.map(({ connection_id }) => connection_id);
    for (const id of ids) {
      this.#works.closeConnection(id);
      this.#told.delete(id);
    }
    await db.deleteFrom('connection_close').where('connection_id', 'in', ids).execute();
    await db.deleteFrom('connection').where('id', 'in', ids).execute();
  }

  async #tell(now: number): Promise<void> {
    const { db } = this.#store;
    const told = { seen_at: now, nodes: JSON.stringify(this.#works.nodes()), url: this.#url };
    const { numUpdatedRows } = await db
      .updateTable('gateway')
      .set(told)
      .where('id', '=', this.id)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) {
      // New, or taken for gone, and its connections were taken out with it.
      this.#told.clear();
      await db
        .insertInto('gateway')
        .values({ id: this.id, ...this.#row, ...told })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(told))
        .execute();
    }
    await this.#tellConnections(now);
    await this.#tellLagged();
    await this.#sweep(now);
  }

  /** Only what changed, with turns for others in between: an embedded store answers without giving them any. */
  async #tellConnections(now: number): Promise<void> {
    const open = this.#works.connections(this.#options.connectionsMax);
    for (const some of batchesOf(open)) {
      const rows = some.map((facts) => this.#connectionRow(facts, now));
      await this.#writeConnections(rows.filter(({ id, facts }) => this.#told.get(id) !== facts));
      await setImmediate();
    }
    const ids = new Set(open.map(({ id }) => id));
    for (const closed of batchesOf([...this.#told.keys()].filter((id) => !ids.has(id)))) {
      await this.#store.db.deleteFrom('connection').where('id', 'in', closed).execute();
      for (const id of closed) this.#told.delete(id);
      await setImmediate();
    }
  }

  #connectionRow(connection: ConnectionFacts, now: number): ConnectionRow {
    const { id, customerId, keyId, kind, ...shown } = connection;
    const own = { id, gateway: this.id, customer_id: customerId, key_id: keyId, kind, told_at: now };
    return { ...own, facts: JSON.stringify(shown) };
  }

  async #writeConnections(rows: readonly ConnectionRow[]): Promise<void> {
    if (rows.length === 0) return;
    for (const { id } of rows) this.#told.set(id, null);
    await this.#store.db
      .insertInto('connection')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet({ told_at: sql.ref('excluded.told_at'), facts: sql.ref('excluded.facts') }),
      )
      .execute();
    for (const { id, facts } of rows) this.#told.set(id, facts);
  }

  async #tellLagged(): Promise<void> {
    const rows: LaggedRow[] = this.#works
      .laggedMinutes()
      .map(({ customerId, ...counted }) => ({ gateway: this.id, customer_id: customerId, ...counted }));
    const names = new Set(rows.map(nameOf));
    for (const name of this.#laggedTold.keys()) if (!names.has(name)) this.#laggedTold.delete(name);
    const changed = rows.filter((row) => this.#laggedTold.get(nameOf(row)) !== row.connections);
    for (const some of batchesOf(changed)) {
      await this.#store.db
        .insertInto('lagged_minute')
        .values(some)
        .onConflict((conflict) =>
          conflict
            .columns(['customer_id', 'minute', 'gateway'])
            .doUpdateSet({ connections: sql.ref('excluded.connections') }),
        )
        .execute();
      for (const row of some) this.#laggedTold.set(nameOf(row), row.connections);
      await setImmediate();
    }
  }

  /** Takes out gateways that are gone, and what nobody needs any more. */
  async #sweep(now: number): Promise<void> {
    const { db } = this.#store;
    const gateways = await db.selectFrom('gateway').select(['id', 'seen_at']).limit(GATEWAYS_MAX).execute();
    const gone = this.#silent.look(gateways, this.#options.now());
    if (gone.length > 0) await this.#forget(gone);
    // Somebody may have asked for one just when its gateway was taken out.
    await db
      .deleteFrom('connection_close')
      .where('gateway', 'not in', (query) => query.selectFrom('gateway').select('id'))
      .execute();
    await db
      .deleteFrom('lagged_minute')
      .where('minute', '<', Math.floor((now - KEPT_MS) / MINUTE_MS))
      .execute();
  }

  async #forget(gateways: readonly string[]): Promise<void> {
    const { db } = this.#store;
    await db.deleteFrom('connection').where('gateway', 'in', gateways).execute();
    await db.deleteFrom('connection_close').where('gateway', 'in', gateways).execute();
    await db.deleteFrom('gateway').where('id', 'in', gateways).execute();
  }
}
