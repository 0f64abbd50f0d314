import type { AuditTable } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { OnState } from '../failure-state.ts';
import { LeasedTask } from '../leased-task.ts';
import type { ClickHouse } from './client.ts';
import { ClickHouseTables } from './tables.ts';

const TABLE = 'audit';

const columns = {
  id: 'Int64',
  at: 'Int64',
  actor: 'String',
  action: 'String',
  key_id: 'Nullable(String)',
  detail: 'String',
  customer_id: 'Nullable(String)',
  address: 'Nullable(String)',
  user_agent: 'Nullable(String)',
  request_id: 'Nullable(String)',
} as const satisfies Record<keyof AuditTable, string>;

/** An entry that was inserted twice is merged. */
const createTable = `create table if not exists ${TABLE}
  (${Object.entries(columns).map(([name, type]) => `${name} ${type}`)})
  engine = ReplacingMergeTree order by id`;

const INTERVAL_MS = 5_000;
const LEASE_MS = 30_000;
const auditCopyOptions = {
  onState: (() => undefined) as OnState,
  batchRows: 5_000,
  now: () => Date.now(),
};

type AuditCopyOptions = Readonly<typeof auditCopyOptions & { store: Store; server: ClickHouse }>;

/**
 * Copies the audit log to ClickHouse, for queries together with usage and the request log. The database keeps the log,
 * because each entry is written in the transaction of its change, and bills need it. One gateway copies at a time.
 */
export class AuditCopy {
  readonly #options: AuditCopyOptions;
  readonly #tables: ClickHouseTables;
  readonly #task: LeasedTask;

  constructor(options: Partial<AuditCopyOptions> & Pick<AuditCopyOptions, 'store' | 'server'>) {
    this.#options = { ...auditCopyOptions, ...options };
    const { store, server, onState, now } = this.#options;
    this.#tables = new ClickHouseTables(server, [createTable]);
    this.#task = new LeasedTask(
      { store, lease: 'audit-copy', leaseMs: LEASE_MS, intervalMs: INTERVAL_MS, onState, now },
      () => this.#tables.use(() => this.#copy()),
    );
  }

  start(): void {
    this.#task.start();
  }

  runOnce(): Promise<void> {
    return this.#task.runOnce();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** Continues after the last entry that arrived. Ids follow the order of commits, so none is skipped. */
  async #copy(): Promise<void> {
    const { store, server, batchRows } = this.#options;
    let last: number | null = null;
    while (await this.#task.renewLease()) {
      last ??= await this.#lastCopied();
      const rows: AuditTable[] = await store.db
        .selectFrom('audit')
        .selectAll()
        .where('id', '>', last)
        .orderBy('id')
        .limit(batchRows)
        .execute();
      if (rows.length > 0) await server.insert(TABLE, rows);
      if (rows.length < batchRows) return;
      last = rows.at(-1)!.id;
    }
  }

  async #lastCopied(): Promise<number> {
    const { rows } = await this.#options.server.query<{ last: number }>(
      `select max(id) as last from ${TABLE}`,
    );
    return rows[0]!.last;
  }
}
