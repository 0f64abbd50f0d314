import { OperatorError } from '../../base/operator-error.ts';
import type { AuditTable } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { OnState } from '../failure-state.ts';
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
const REFUSED_RETRY_MS = 60_000;
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
  /** Id of the first entry that ClickHouse refused; 0: an earlier run may know; null: none. */
  #firstRefused: number | null = 0;
  /** Id of the last entry that was sent, or refused. */
  #lastSent = 0;
  #retryAt = 0;

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

  /** Whether ClickHouse refuses entries. */
  get isIncomplete(): boolean {
    return (this.#firstRefused ?? 0) > 0;
  }

  /**
   * Continues after the last entry that arrived. Ids follow the order of commits, so none is skipped, except those that
   * ClickHouse refuses: they are retried less often.
   */
  async #copy(): Promise<void> {
    const { server, batchRows, now } = this.#options;
    const isRetry = this.#firstRefused !== null && now() >= this.#retryAt;
    const refused: number[] = [];
    let last: number | null = null;
    let rows: AuditTable[];
    do {
      // Another gateway copies, and reports what is refused.
      if (!(await this.#task.renewLease())) {
        [this.#firstRefused, this.#retryAt] = [0, 0];
        return;
      }
      last ??= isRetry ? await this.#lastComplete(this.#firstRefused ?? 0) : await this.#lastCopied();
      rows = await this.#read(last);
      const more = await insertAccepted(rows, (part) => server.insert(TABLE, part));
      last = rows.at(-1)?.id ?? last;
      this.#lastSent = last;
      refused.push(...more.map(({ id }) => id));
      if (refused.length > 0) this.#firstRefused = Math.min(this.#firstRefused || Infinity, ...refused);
    } while (rows.length === batchRows);
    if (isRetry) this.#firstRefused = refused.length === 0 ? null : Math.min(...refused);
    if (isRetry || refused.length > 0) this.#retryAt = now() + REFUSED_RETRY_MS;
    if (this.isIncomplete)
      throw new OperatorError(`ClickHouse refuses entry ${this.#firstRefused} of the audit log`);
  }

  #read(last: number): Promise<AuditTable[]> {
    const { store, batchRows } = this.#options;
    const entries = store.db.selectFrom('audit').selectAll().where('id', '>', last);
    return entries.orderBy('id').limit(batchRows).execute();
  }

  async #lastCopied(): Promise<number> {
    const { rows } = await this.#options.server.query<{ last: number }>(
      `select max(id) as last from ${TABLE}`,
    );
    return Math.max(rows[0]!.last, this.isIncomplete ? this.#lastSent : 0);
  }

  /** Returns the id before the first entry that may be missing; copying an entry again is harmless. */
  async #lastComplete(firstRefused: number): Promise<number> {
    const last = await this.#lastCopied();
    const { rows } = await this.#options.server.query<{ count: number }>(
      `select uniqExact(id) as count from ${TABLE}`,
    );
    const entries = this.#options.store.db.selectFrom('audit').where('id', '<=', last);
    const { count } = await entries
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count) > rows[0]!.count ? Math.max(0, firstRefused - 1) : last;
  }
}
