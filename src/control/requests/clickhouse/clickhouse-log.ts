import { chunk } from '../../../base/chunk.ts';
import { withDefaults } from '../../../base/with-defaults.ts';
import { ClickHouse, listOf, textLiteral } from '../../clickhouse/client.ts';
import { insertAccepted } from '../../clickhouse/insert-accepted.ts';
import { ClickHouseTables } from '../../clickhouse/tables.ts';
import { FailureState, type OnState } from '../../failure-state.ts';
import { PeriodicTask } from '../../periodic-task.ts';
import { timeOfId } from '../entry-ids.ts';
import { retentionLimits } from '../log-retention.ts';
import type {
  FailureExample,
  FailureFilter,
  ListedRow,
  LogCounts,
  LogFilter,
  LogPage,
  LogRow,
  LogStore,
  NewLogRow,
} from '../log-store.ts';
import { termsOf } from '../log-terms.ts';
import { LogOutbox, logOutboxOptions } from './log-outbox.ts';
import { conditionsOf, scan } from './log-scan.ts';
import { createTable, DAY_MS, listedColumns, rowColumns, TABLE } from './table.ts';

export const clickHouseLogOptions = {
  retentionHours: retentionLimits.retentionHours,
  journalMaxBytes: logOutboxOptions.maxBytes,
  sendIntervalMs: 1_000,
  pruneIntervalMs: 600_000,
  onState: (() => undefined) as OnState,
  /** Whether entries of deleted customers can be deleted. */
  onDeletionState: (() => undefined) as OnState,
  onRecovered: (_rows: number): void => undefined,
};

type ClickHouseLogOptions = Readonly<typeof clickHouseLogOptions>;

const HOUR_MS = 3_600_000;
/** Rows per insert: large, because the server stores each insert as a part and merges the parts. */
const INSERT_MAX_BYTES = 4_194_304;
/** Ids per query. The server accepts statements of 256 KiB. */
const IDS_MAX = 1_000;
/** Batches with more rows are retried if the server rejects all of them. */
const ROWS_DROPPED_MAX = 64;
/** Unfinished deletions in which a failing one is looked for. */
const MUTATIONS_MAX = 100;

type Position = Pick<LogRow, 'customer_id' | 'at' | 'id'>;

const positionOf = ({ customer_id, at, id }: Position): string =>
  listOf([textLiteral(customer_id), String(at), textLiteral(id)]);

/** The request log in ClickHouse. Rows wait in files until the server has them. */
export class ClickHouseLog implements LogStore {
  readonly batchRows = 5_000;
  readonly #searches: ClickHouse;
  /** With connections of its own, so that no number of searches delays it. */
  readonly #writes: ClickHouse;
  readonly #tables: ClickHouseTables;
  readonly #outbox: LogOutbox;
  readonly #options: ClickHouseLogOptions;
  readonly #state: FailureState;
  readonly #deletionState: FailureState;
  readonly #task: PeriodicTask;
  /** Rows that the server rejected. */
  #rejected = 0;
  /** Files of an earlier run are taken over once. */
  #hasAdopted = false;
  #prunedAt = Number.NEGATIVE_INFINITY;

  /** @param folder - for rows that wait. */
  constructor(url: string, folder: string, options: Partial<ClickHouseLogOptions> = {}) {
    this.#options = withDefaults(clickHouseLogOptions, options);
    this.#searches = new ClickHouse(url);
    this.#writes = new ClickHouse(url);
    this.#tables = new ClickHouseTables(this.#writes, [createTable]);
    this.#outbox = new LogOutbox(folder, this.#options.journalMaxBytes);
    this.#state = new FailureState(this.#options.onState);
    this.#deletionState = new FailureState(this.#options.onDeletionState);
    this.#task = new PeriodicTask(
      () => this.#state.guard(() => this.#tables.use(() => this.#send())),
      this.#options.sendIntervalMs,
    );
  }

  get losses(): Readonly<{ dropped: number; rejected: number }> {
    const { dropped, corruptLines } = this.#outbox.losses;
    return { dropped: dropped + corruptLines, rejected: this.#rejected };
  }

  /** Whether the last attempt to send rows failed. */
  get isFailing(): boolean {
    return this.#state.isFailing;
  }

  /** Rows that the server does not have yet. */
  get waiting(): number {
    return this.#outbox.rows;
  }

  start(): void {
    this.#task.start();
  }

  /** Sends waiting rows. Resolves after the attempt, successful or not. Never rejects. */
  flush(): Promise<void> {
    return this.#task.rerun();
  }

  /** Flushes once more. Rows that could not be sent stay in their files. */
  async stop(): Promise<void> {
    await this.#task.finish();
    this.#outbox.close();
    await Promise.all([this.#searches.close(), this.#writes.close()]);
  }

  /** Writes the rows to files. */
  async write(rows: readonly NewLogRow[]): Promise<void> {
    await this.#outbox.append(rows);
    void this.#task.run();
  }

  async list(customerId: string, filter: LogFilter, limit: number, before: string | null): Promise<LogPage> {
    const found: Position[] = [];
    const range = { ...this.#rangeOf(filter), customerId, conditions: conditionsOf(filter), before };
    const statement = [
      'select customer_id, at, id',
      `order by at desc, id desc limit 1 by id limit ${limit}`,
    ] as const;
    const end = await this.#tables.read(() =>
      scan<Position>(this.#searches, range, statement, (rows) => {
        found.push(...rows);
        return found.length < limit;
      }),
    );
    return {
      rows: await this.#tables.read(() => this.#rowsAt<ListedRow>(found.slice(0, limit), listedColumns)),
      end,
    };
  }

  async find(customerId: string, id: string): Promise<LogRow | undefined> {
    const at = timeOfId(id);
    if (at < this.#oldest) return undefined;
    const [row] = await this.#tables.read(() =>
      this.#rowsAt<LogRow>([{ customer_id: customerId, at, id }], rowColumns),
    );
    return row;
  }

  async count(customerId: string, filter: LogFilter, stepMs: number): Promise<LogCounts> {
    const steps: LogCounts['steps'][number][] = [];
    const range = { ...this.#rangeOf(filter), customerId, conditions: conditionsOf(filter) };
    const step = `intDiv(at - ${filter.from}, ${stepMs}) as step`;
    const statement = [
      `select ${step}, count() as requests, countIf(status != 'ok') as failed`,
      'group by step',
    ] as const;
    const end = await this.#tables.read(() =>
      scan<LogCounts['steps'][number]>(this.#searches, range, statement, (rows) => {
        steps.push(...rows);
        return true;
      }),
    );
    return { steps, end };
  }

  async findExamples(
    customerId: string,
    filter: FailureFilter,
    codes: readonly string[],
  ): Promise<Map<string, FailureExample>> {
    const examples = new Map<string, FailureExample>();
    if (codes.length === 0) return examples;
    const code = `if(isNull(failure), toString(rpc_code), assumeNotNull(failure))`;
    const conditions = [
      "status != 'ok'",
      ...conditionsOf(filter),
      `${code} in ${listOf(codes.map(textLiteral))}`,
    ];
    const statement = [
      `select ${code} as code, max(id) as newest, argMax(message, id) as text`,
      'group by code',
    ] as const;
    const range = { ...this.#rangeOf(filter), customerId, conditions };
    await this.#tables.read(() =>
      scan<Readonly<{ code: string; newest: string; text: string | null }>>(
        this.#searches,
        range,
        statement,
        (rows) => {
          // The first part has the newest entry.
          for (const { code, newest: id, text: message } of rows)
            if (!examples.has(code)) examples.set(code, { id, message });
          return examples.size < codes.length;
        },
      ),
    );
    return examples;
  }

  /** Never rejects: a failure is reported, and the caller repeats the deletion. */
  deleteCustomers(ids: readonly string[]): Promise<void> {
    return this.#deletionState.guard(() => this.#tables.use(() => this.#deleteCustomers(ids)));
  }

  async #deleteCustomers(ids: readonly string[]): Promise<void> {
    for (const some of chunk(ids, IDS_MAX)) {
      const isDeleted = `customer_id in ${listOf(some.map(textLiteral))}`;
      const found = await this.#writes.query<{ rows: number }>(
        `select count() as rows from ${TABLE} where ${isDeleted}`,
      );
      if (!found.rows.some(({ rows }) => rows > 0)) continue;
      // All columns, because old servers do not have the reason.
      const { rows: pending } = await this.#writes.query<{ latest_fail_reason?: string }>(
        `select * from system.mutations
          where database = currentDatabase() and table = '${TABLE}' and not is_done limit ${MUTATIONS_MAX}`,
      );
      const reason = pending.map(({ latest_fail_reason }) => latest_fail_reason).find(Boolean);
      if (reason !== undefined) throw new Error(`ClickHouse fails to delete entries: ${reason}`);
      // The server deletes in the background. A second deletion would only wait for the first.
      if (pending.length === 0) await this.#writes.run(`alter table ${TABLE} delete where ${isDeleted}`);
    }
  }

  /** Without expired rows, whose partition is dropped later. */
  #rangeOf({ from, to }: Pick<LogFilter, 'from' | 'to'>): Readonly<{ from: number; to: number }> {
    return { from: Math.max(from, this.#oldest), to };
  }

  /** Rows before this time have expired. */
  get #oldest(): number {
    return Date.now() - this.#options.retentionHours * HOUR_MS;
  }

  async #rowsAt<Row>(positions: readonly Position[], columns: readonly string[]): Promise<Row[]> {
    const pages = chunk(positions, IDS_MAX).map((some) =>
      this.#searches.query<Row>(
        `select ${columns.join(', ')} from ${TABLE} prewhere (customer_id, at, id) in ${listOf(some.map(positionOf))}
          order by at desc, id desc limit 1 by id`,
      ),
    );
    return (await Promise.all(pages)).flatMap(({ rows }) => rows);
  }

  async #send(): Promise<void> {
    if (!this.#hasAdopted) {
      const rows = await this.#outbox.adoptOrphans();
      if (rows > 0) this.#options.onRecovered(rows);
      this.#hasAdopted = true;
    }
    for (;;) {
      // After a failure, the first file shows whether the server has recovered.
      const batch = await this.#outbox.read(this.#state.isFailing ? 0 : INSERT_MAX_BYTES);
      if (batch === null) break;
      // Set before the attempt, because the server may store rows and fail to respond.
      const { rows, isSuspect } = batch;
      for (const file of batch.files) file.isSuspect = true;
      await this.#insertValid(isSuspect ? await this.#missing(rows) : rows);
      await this.#outbox.remove(batch);
      this.#state.report(null);
    }
    await this.#prune();
  }

  /** Rows that are not stored yet. */
  async #missing(rows: readonly NewLogRow[]): Promise<NewLogRow[]> {
    const stored = new Set<string>();
    for (const some of chunk(rows, IDS_MAX)) {
      const positions = listOf(some.map(positionOf));
      const found = await this.#writes.query<Pick<LogRow, 'id'>>(
        `select id from ${TABLE} where (customer_id, at, id) in ${positions}`,
      );
      for (const { id } of found.rows) stored.add(id);
    }
    return rows.filter(({ id }) => !stored.has(id));
  }

  /** Drops the rows that the server rejects, unless these are all of a large batch. */
  async #insertValid(rows: readonly NewLogRow[]): Promise<void> {
    const insert = (part: readonly NewLogRow[]) =>
      this.#writes.insert(
        TABLE,
        part.map((row) => ({ ...row, terms: termsOf(row) })),
      );
    const { rejected, error } = await insertAccepted(rows, insert);
    // Not because of the content of one row.
    if (rejected.length > ROWS_DROPPED_MAX && rejected.length === rows.length) throw error;
    this.#rejected += rejected.length;
  }

  async #prune(): Promise<void> {
    const now = performance.now();
    if (now - this.#prunedAt < this.#options.pruneIntervalMs) return;
    await this.#tables.dropDays(TABLE, Math.floor(this.#oldest / DAY_MS));
    this.#prunedAt = now;
  }
}
