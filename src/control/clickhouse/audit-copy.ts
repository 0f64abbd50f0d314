import { sql } from 'kysely';
import { OperatorError } from '../../base/operator-error.ts';
import type { AuditTable } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { LeasedTask } from '../leased-task.ts';
import type { ClickHouse } from './client.ts';
import { insertAccepted } from './insert-accepted.ts';
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
const REJECTED_RETRY_MS = 60_000;
/** Maximum rejected ids in memory; later ones are retried afterwards. */
const REJECTED_MAX = 1_000;
const auditCopyOptions = {
  onState: (() => undefined) as OnState,
  /** Whether ClickHouse rejects entries. */
  onRejectedState: (() => undefined) as OnState,
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
  readonly #rejectedState: FailureState;
  /** Ids of entries that ClickHouse rejected. */
  readonly #rejected = new Set<number>();
  #lastError: unknown = null;
  #retryAt = 0;
  /** Id of the last entry that was sent; infinite: unknown, so the copy may lack earlier entries. */
  #lastSent = Number.POSITIVE_INFINITY;
  /** False after an error, because ClickHouse may have lost its data. */
  #isChecked = false;

  constructor(options: Partial<AuditCopyOptions> & Pick<AuditCopyOptions, 'store' | 'server'>) {
    this.#options = { ...auditCopyOptions, ...options };
    const { store, server, onState, onRejectedState, now } = this.#options;
    this.#tables = new ClickHouseTables(server, [createTable]);
    this.#rejectedState = new FailureState(onRejectedState);
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

  get hasRejectedRows(): boolean {
    return this.#rejectedState.isFailing;
  }

  async #copy(): Promise<void> {
    try {
      // Otherwise another gateway copies, and reports what is rejected.
      if (await this.#task.renewLease()) await this.#copyNew();
      else this.#forget();
    } catch (error) {
      this.#isChecked = false;
      throw error;
    }
    this.#rejectedState.report(this.#rejected.size === 0 ? null : this.#rejection());
  }

  #rejection(): OperatorError {
    const text = `ClickHouse rejects ${this.#rejected.size} audit entries, such as ${[...this.#rejected][0]}`;
    return new OperatorError(text, { cause: this.#lastError });
  }

  #forget(): void {
    this.#rejected.clear();
    this.#lastSent = Number.POSITIVE_INFINITY;
    this.#isChecked = false;
  }

  /** Copies the entries after the last one. Ids follow the order of commits, so none is skipped. */
  async #copyNew(): Promise<void> {
    const { server, batchRows } = this.#options;
    if (!this.#isChecked) {
      const { rows } = await server.query<{ last: number }>(`select max(id) as last from ${TABLE}`);
      const { last } = rows[0]!;
      if (last < this.#lastSent) await this.#copyMissing(last);
      this.#lastSent = Math.min(last, this.#lastSent);
      this.#isChecked = true;
    }
    let rows: AuditTable[];
    do {
      rows = await this.#entries.where('id', '>', this.#lastSent).limit(batchRows).execute();
      await this.#insert(rows);
      this.#lastSent = rows.at(-1)?.id ?? this.#lastSent;
      if (!(await this.#task.renewLease())) return this.#forget();
    } while (rows.length === batchRows);
    await this.#retryRejected();
  }

  /** Resends id ranges of which ClickHouse lacks entries. */
  async #copyMissing(last: number): Promise<void> {
    const { server, store, batchRows } = this.#options;
    const copied = await server.query<{ part: number; count: number }>(
      `select intDiv(id, ${batchRows}) as part, uniqExact(id) as count from ${TABLE} group by part`,
    );
    const counts = new Map(copied.rows.map(({ part, count }) => [part, count]));
    const part = sql<number>`id / ${sql.lit(batchRows)}`;
    const entries = store.db.selectFrom('audit').where('id', '<=', last);
    const stored = await entries
      .select(({ fn }) => [part.as('part'), fn.countAll<number>().as('count')])
      .groupBy(part)
      .execute();
    this.#rejected.clear();
    for (const { part, count } of stored) {
      if (Number(count) <= (counts.get(Number(part)) ?? 0)) continue;
      const from = Number(part) * batchRows;
      const range = this.#entries.where('id', '>=', from).where('id', '<', from + batchRows);
      await this.#insert(await range.where('id', '<=', last).execute());
      if (!(await this.#task.renewLease())) return;
    }
  }

  async #retryRejected(): Promise<void> {
    const { now } = this.#options;
    if (this.#rejected.size === 0 || now() < this.#retryAt) return;
    this.#retryAt = now() + REJECTED_RETRY_MS;
    await this.#insert(await this.#entries.where('id', 'in', [...this.#rejected]).execute());
    // Finds entries beyond the maximum.
    if (this.#rejected.size === 0) this.#forget();
  }

  get #entries() {
    return this.#options.store.db.selectFrom('audit').selectAll().orderBy('id');
  }

  async #insert(rows: readonly AuditTable[]): Promise<void> {
    const { server, now } = this.#options;
    const { rejected, error } = await insertAccepted(rows, (part) => server.insert(TABLE, part));
    for (const { id } of rows) this.#rejected.delete(id);
    if (rejected.length === 0) return;
    if (this.#rejected.size === 0) this.#retryAt = now() + REJECTED_RETRY_MS;
    for (const { id } of rejected.slice(0, REJECTED_MAX - this.#rejected.size)) this.#rejected.add(id);
    this.#lastError = error;
  }
}
