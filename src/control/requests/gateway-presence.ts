import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { ConnectionFacts, LaggedMinute } from '../../observe/live-connections.ts';
import type { Store } from '../database/open.ts';
import { type NodeCordon, readCordons } from './node-cordons.ts';

/** What a gateway has to tell and can be told to do; other floors hand it in. */
export type GatewayWorks = Readonly<{
  /** Its nodes, as it sees them, ready to be written as JSON. */
  nodes: () => readonly object[];
  /** Its open connections, at most so many, the busiest first. */
  connections: (max: number) => readonly ConnectionFacts[];
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
}>;

/** What holds when nothing else is said. */
export const presenceOptions: PresenceOptions = {
  heartbeatMs: 2_000,
  lookIntervalMs: 400,
  connectionsMax: 1_000,
  goneAfterMs: 10_000,
};

const MINUTE_MS = 60_000;
/** Orders and counts of laggards are forgotten after this. */
const KEPT_MS = 61 * MINUTE_MS;
/** Rows per statement, small enough that an embedded store blocks for a few milliseconds. */
const BATCH_ROWS = 100;

/** Tells the store that this gateway is there, and does what the store has for it to do. */
export class GatewayPresence {
  /** Names this run of this process. */
  readonly id: string;
  readonly #store: Store;
  readonly #works: GatewayWorks;
  readonly #row: Readonly<{ host: string; version: string; started_at: number }>;
  readonly #options: PresenceOptions;
  #toldAt = Number.NEGATIVE_INFINITY;
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
    this.#row = { ...self, started_at: Date.now() };
    this.id = `${self.host.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 40)}-${randomBytes(4).toString('hex')}`;
  }

  /** Tells at once, then goes on. Resolves after the first attempt, whether the store answered or not. */
  async start(): Promise<void> {
    await this.refresh();
    this.#timer ??= setInterval(() => void this.refresh(), this.#options.lookIntervalMs);
  }

  /** Looks for what is to be done, and tells what is due. Never rejects. */
  refresh(): Promise<void> {
    this.#looking ??= this.#turn()
      .catch(() => {
        // Tried again at the next turn; that the store is away is told by whoever keeps keys up to date.
      })
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
    for (const id of ids) this.#works.closeConnection(id);
    await db.deleteFrom('connection_close').where('connection_id', 'in', ids).execute();
    await db.deleteFrom('connection').where('id', 'in', ids).execute();
  }

  async #tell(now: number): Promise<void> {
    const { db } = this.#store;
    const told = { seen_at: now, nodes: JSON.stringify(this.#works.nodes()) };
    await db
      .insertInto('gateway')
      .values({ id: this.id, ...this.#row, ...told })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(told))
      .execute();
    await this.#tellConnections(now);
    await this.#tellLagged();
    await this.#sweep(now);
  }

  async #tellConnections(now: number): Promise<void> {
    const rows = this.#works.connections(this.#options.connectionsMax).map((facts) => {
      const { id, customerId, keyId, kind, ...shown } = facts;
      const own = { id, gateway: this.id, customer_id: customerId, key_id: keyId, kind, told_at: now };
      return { ...own, facts: JSON.stringify(shown) };
    });
    await this.#store.db.transaction().execute(async (trx) => {
      for (let from = 0; from < rows.length; from += BATCH_ROWS) {
        await trx
          .insertInto('connection')
          .values(rows.slice(from, from + BATCH_ROWS))
          .onConflict((conflict) =>
            conflict.column('id').doUpdateSet({
              told_at: now,
              facts: sql.ref('excluded.facts'),
            }),
          )
          .execute();
      }
      await trx.deleteFrom('connection').where('gateway', '=', this.id).where('told_at', '<', now).execute();
    });
  }

  async #tellLagged(): Promise<void> {
    const rows = this.#works
      .laggedMinutes()
      .slice(0, 10 * BATCH_ROWS)
      .map(({ customerId, ...counted }) => ({ gateway: this.id, customer_id: customerId, ...counted }));
    for (let from = 0; from < rows.length; from += BATCH_ROWS) {
      await this.#store.db
        .insertInto('lagged_minute')
        .values(rows.slice(from, from + BATCH_ROWS))
        .onConflict((conflict) =>
          conflict
            .columns(['customer_id', 'minute', 'gateway'])
            .doUpdateSet({ connections: sql.ref('excluded.connections') }),
        )
        .execute();
    }
  }

  /** Takes out gateways that are gone, and what nobody needs any more. */
  async #sweep(now: number): Promise<void> {
    const { db } = this.#store;
    const gone = await db
      .selectFrom('gateway')
      .select('id')
      .where('seen_at', '<', now - this.#options.goneAfterMs)
      .limit(BATCH_ROWS)
      .execute();
    if (gone.length > 0) await this.#forget(gone.map(({ id }) => id));
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
