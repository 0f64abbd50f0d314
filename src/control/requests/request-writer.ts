import type { Insertable } from 'kysely';
import { chunk } from '../../base/chunk.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { RequestEntry, RequestLog } from '../../gateway/telemetry/request-log.ts';
import type { Submission, SubmissionLog } from '../../gateway/telemetry/submission-log.ts';
import type { UnknownMethodCount, UnknownMethods } from '../../gateway/telemetry/unknown-methods.ts';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import type { Store } from '../database/store.ts';
import { isPermanentError } from '../database/store-unavailable.ts';
import type { SubmissionTable } from '../database/tables/requests.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { EntryIds } from './entry-ids.ts';
import { LogRetention, retentionLimits } from './log-retention.ts';
import type { LogStore, NewLogRow } from './log-store.ts';

export type RequestSources = Readonly<{
  requests: Pick<RequestLog, 'drain'>;
  submissions: Pick<SubmissionLog, 'drain'>;
  unknownMethods?: Pick<UnknownMethods, 'unstored'>;
}>;

export const requestWriterOptions = {
  ...retentionLimits,
  flushIntervalMs: 1_000,
  /** Submissions and counts per statement. Kept low, because other statements wait while it runs. */
  batchRows: 25,
  /** Maximum pending entries of each kind; above this, the oldest are dropped. */
  pendingMax: 10_000,
  pruneIntervalMs: 60_000,
  onState: (() => undefined) as OnState,
};

export type RequestWriterOptions = Readonly<typeof requestWriterOptions>;

type SubmissionRow = Insertable<SubmissionTable>;

/** Writes logged requests, submissions and counts of unknown methods to the store, and prunes stored rows. */
export class RequestWriter {
  readonly #store: Store;
  readonly #logStore: LogStore;
  readonly #sources: RequestSources;
  readonly #gateway: string;
  readonly #options: RequestWriterOptions;
  readonly #ids = new EntryIds();
  readonly #log: NewLogRow[] = [];
  readonly #submissions: SubmissionRow[] = [];
  /** Id of each submission, because a submission is written again when its result arrives. */
  readonly #submissionIds = new WeakMap<Submission, string>();
  readonly #retention: LogRetention;
  readonly #state: FailureState;
  readonly #losses = { dropped: 0, rejected: 0 };
  #prunedAt = performance.now();
  readonly #task: PeriodicTask;
  readonly #parts = [
    () => this.#writeLog(),
    () => this.#writeSubmissions(),
    () => this.#writeUnknownMethods(),
    () => this.#prune(),
  ];

  constructor(
    store: Store,
    log: LogStore,
    sources: RequestSources,
    gateway: string,
    options: Partial<RequestWriterOptions> = {},
  ) {
    this.#store = store;
    this.#logStore = log;
    this.#sources = sources;
    this.#gateway = gateway;
    this.#options = withDefaults(requestWriterOptions, options);
    this.#retention = new LogRetention(store, this.#options, log);
    this.#state = new FailureState(this.#options.onState);
    this.#task = new PeriodicTask(() => this.#flush(), this.#options.flushIntervalMs);
  }

  /** Numbers of entries dropped because too many were pending, and of entries that the store rejected. */
  get losses(): Readonly<{ dropped: number; rejected: number }> {
    const { dropped = 0, rejected = 0 } = this.#logStore.losses ?? {};
    return { dropped: this.#losses.dropped + dropped, rejected: this.#losses.rejected + rejected };
  }

  start(): void {
    this.#logStore.start?.();
    this.#task.start();
  }

  /** Resolves after the attempt, successful or not. Never rejects. */
  flush(): Promise<void> {
    return this.#task.run();
  }

  async stop(): Promise<void> {
    await this.#task.finish();
    await this.#logStore.stop?.();
    await this.#retention.stop();
  }

  /** Writes log rows and submissions, then prunes. A failure in one step does not block the others. */
  async #flush(): Promise<void> {
    this.#collect();
    let failure: unknown | null = null;
    for (const part of this.#parts) {
      await part().catch((error: unknown) => {
        failure ??= error;
      });
    }
    this.#state.report(failure);
  }

  /** Running totals: writing one twice is harmless. */
  async #writeUnknownMethods(): Promise<void> {
    const counts = this.#sources.unknownMethods?.unstored() ?? [];
    for (const batch of chunk(counts, this.#options.batchRows)) {
      const calls = batch.map((count) => count.calls);
      await this.#store.db
        .insertInto('unknown_method')
        .values(batch.map((count) => this.#unknownMethodRow(count)))
        .onConflict((conflict) =>
          conflict.columns(['hour', 'customer_id', 'method', 'gateway']).doUpdateSet(({ ref }) => ({
            calls: ref('excluded.calls'),
            last_at: ref('excluded.last_at'),
          })),
        )
        .execute();
      batch.forEach((count, index) => {
        count.storedCalls = calls[index] ?? 0;
      });
    }
  }

  #unknownMethodRow({ hour, customerId, method, calls, lastAt }: UnknownMethodCount) {
    return { hour, customer_id: customerId, method, gateway: this.#gateway, calls, last_at: lastAt };
  }

  #writeLog(): Promise<void> {
    return this.#writeAll(this.#log, this.#logStore.batchRows, (rows) => this.#logStore.write(rows));
  }

  #writeSubmissions(): Promise<void> {
    return this.#writeAll(this.#submissions, this.#options.batchRows, (rows) =>
      this.#store.db
        .insertInto('submission')
        .values(rows)
        // The row already exists if the submission was written before and has been updated since.
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet(({ ref }) => ({
            attempts: ref('excluded.attempts'),
            rebroadcasts: ref('excluded.rebroadcasts'),
            again: ref('excluded.again'),
            fate: ref('excluded.fate'),
            fate_slot: ref('excluded.fate_slot'),
            fate_err: ref('excluded.fate_err'),
          })),
        )
        .execute(),
    );
  }

  #collect(): void {
    const { requests, submissions } = this.#sources;
    for (const entry of requests.drain()) this.#log.push(this.#logRow(entry));
    this.#collectSubmissions(submissions.drain());
    for (const rows of [this.#log, this.#submissions]) {
      const over = rows.length - this.#options.pendingMax;
      if (over <= 0) continue;
      rows.splice(0, over);
      this.#losses.dropped += over;
    }
  }

  /** An update replaces the pending row, because a statement must not contain the same row twice. */
  #collectSubmissions(drained: readonly Submission[]): void {
    const waiting = new Map(this.#submissions.map(({ id }, at) => [id, at]));
    for (const submission of drained) {
      const row = this.#submissionRow(submission);
      const at = waiting.get(row.id);
      if (at === undefined) this.#submissions.push(row);
      else this.#submissions[at] = row;
    }
  }

  /** Writes rows in batches. Retries a rejected batch row by row, so that only invalid rows are dropped. */
  async #writeAll<Row>(
    rows: Row[],
    batchRows: number,
    write: (batch: Row[]) => Promise<unknown>,
  ): Promise<void> {
    let single = 0;
    while (rows.length > 0) {
      const batch = rows.slice(0, single > 0 ? 1 : batchRows);
      try {
        await write(batch);
      } catch (error) {
        if (!isPermanentError(error)) throw error;
        single ||= batch.length;
        if (batch.length > 1) continue;
        this.#losses.rejected++;
      }
      rows.splice(0, batch.length);
      single = Math.max(0, single - 1);
    }
  }

  async #prune(): Promise<void> {
    const now = performance.now();
    if (now - this.#prunedAt < this.#options.pruneIntervalMs) return;
    this.#prunedAt = now;
    await this.#retention.prune(Date.now());
  }

  #logRow(entry: RequestEntry): NewLogRow {
    const { customerId, keyId, rpcCode, bytesIn, bytesOut, steps, ...same } = entry;
    return {
      ...same,
      id: this.#ids.next(entry.at),
      gateway: this.#gateway,
      // Calls without a key belong to the built-in customer.
      customer_id: customerId ?? DEFAULT_CUSTOMER_ID,
      key_id: keyId,
      rpc_code: rpcCode,
      bytes_in: bytesIn,
      bytes_out: bytesOut,
      steps: JSON.stringify(steps),
    };
  }

  #submissionRow(submission: Submission): SubmissionRow {
    const { customerId, keyId, attempts, result, ...same } = submission;
    const { rebroadcastAttempts = [] } = result ?? {};
    const id = this.#submissionIds.get(submission) ?? this.#ids.next(same.at);
    this.#submissionIds.set(submission, id);
    return {
      ...same,
      id,
      customer_id: customerId,
      key_id: keyId,
      attempts: JSON.stringify(attempts),
      rebroadcasts: result?.rebroadcasts ?? 0,
      again: rebroadcastAttempts.length === 0 ? null : JSON.stringify(rebroadcastAttempts),
      fate: result?.status ?? null,
      fate_slot: result?.slot == null ? null : String(result.slot),
      fate_err: result?.err ?? null,
    };
  }
}
