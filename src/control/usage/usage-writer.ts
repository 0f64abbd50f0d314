import { randomUUID } from 'node:crypto';
import { chunk } from '../../base/chunk.ts';
import type { UsageMeter, UsageRow } from '../../gateway/metering/usage-meter.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import {
  type RecoveredJournal,
  recoverJournals,
  UsageJournal,
  usageJournalOptions,
} from './usage-journal.ts';
import { RejectedRows, rowKeyOf, type StoredUsage, storedUsage, type UsageSink } from './usage-rows.ts';

export const usageWriterOptions = {
  /** Interval between flushes. If the process is killed, at most this much usage is lost. */
  flushIntervalMs: 1_000,
  /** Maximum pending rows; above this, the oldest are dropped and counted in `lostRows`. */
  pendingRowsMax: 200_000,
  /** null: no journal; rows that are not yet stored exist only in memory. */
  journalFolder: null as string | null,
  journalMaxBytes: usageJournalOptions.maxBytes,
  onStoreState: (() => undefined) as OnState,
  onJournalState: (() => undefined) as OnState,
  onJournalRecovered: (_journal: RecoveredJournal): void => undefined,
  /** Journals of earlier runs could not be stored or read; their recovery is retried. */
  onRecoveryState: (() => undefined) as OnState,
  /** Whether the store rejects rows because of their content. They are retried. */
  onRejectedState: (() => undefined) as OnState,
};

export type UsageWriterOptions = Readonly<
  typeof usageWriterOptions & { sink: UsageSink; source: Pick<UsageMeter, 'drain'>; runId?: string }
>;

/** Short, so that journals are stored once the store is available. */
const RECOVERY_RETRY_MS = 2_000;
const REJECTED_RETRY_MS = 60_000;

/** Flushes usage to a store. Failed writes are retried and never affect requests. */
export class UsageWriter {
  readonly runId: string;
  readonly #options: UsageWriterOptions;
  readonly #journal: UsageJournal | null;
  readonly #storeState: FailureState;
  readonly #journalState: FailureState;
  readonly #recoveryState: FailureState;
  readonly #rejectedState: FailureState;
  /** Latest unstored total of each row, in order of arrival. */
  readonly #pending = new Map<string, StoredUsage>();
  /** Pending rows that the store rejected, and when to retry them. */
  readonly #rejected = new Map<string, number>();
  /** Pending rows that are not in the journal either. */
  readonly #unjournaled = new Map<string, StoredUsage>();
  readonly #losses = {
    /** Rows dropped because too many were pending. */
    lostRows: 0,
    /** Rows rejected because their minutes are past retention. */
    lateRows: 0,
    /** Rows that did not fit into the journal. */
    journalOverflowRows: 0,
  };
  #nextRecoveryAt = 0;
  #rejection: RejectedRows | null = null;
  /** Rejected rows from journals of earlier runs. */
  #orphansRejection: RejectedRows | null = null;
  #saving: Promise<void> = Promise.resolve();
  #writing: Promise<void> | null = null;
  #gateway: string | undefined;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: Partial<UsageWriterOptions> & Pick<UsageWriterOptions, 'sink' | 'source'>) {
    this.#options = { ...usageWriterOptions, ...options };
    const { runId, journalFolder, journalMaxBytes } = this.#options;
    const { onStoreState, onJournalState, onRecoveryState, onRejectedState } = this.#options;
    this.runId = runId ?? randomUUID();
    this.#journal =
      journalFolder === null ? null : new UsageJournal(journalFolder, this.runId, journalMaxBytes);
    this.#storeState = new FailureState(onStoreState);
    this.#journalState = new FailureState(onJournalState);
    this.#recoveryState = new FailureState(onRecoveryState);
    this.#rejectedState = new FailureState(onRejectedState);
  }

  /** Counters since startup. */
  get losses(): Readonly<Record<'lostRows' | 'lateRows' | 'journalOverflowRows', number>> {
    return this.#losses;
  }

  get pendingRows(): number {
    return this.#pending.size;
  }

  /** Whether the store rejects rows, also those of earlier runs. */
  get hasRejectedRows(): boolean {
    return this.#rejectedState.isFailing;
  }

  /** Sets the id under which this run is shown. */
  setGateway(id: string): void {
    this.#gateway = id;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#options.flushIntervalMs);
  }

  /**
   * Writes pending rows. If a write is already in progress, only adds the new rows to the journal; the next flush
   * writes them to the store. Never rejects.
   */
  async flush(): Promise<void> {
    const rows = this.#options.source.drain();
    const isBehind = this.#storeState.isFailing || this.#writing !== null;
    this.#collect(rows);
    if (this.#options.sink.isJournaledFirst || isBehind) await this.#save();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Flushes once more. Rows that could not be stored stay in the journal. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#writing;
    await this.flush();
    await this.#save();
    await this.#journal?.close().catch(() => undefined);
  }

  #collect(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      const stored = storedUsage(row);
      this.#pending.set(rowKeyOf(stored), stored);
      if (this.#journal !== null) this.#unjournaled.set(rowKeyOf(stored), stored);
    }
    for (const rowKey of this.#pending.keys()) {
      if (this.#pending.size <= this.#options.pendingRowsMax) break;
      this.#pending.delete(rowKey);
      this.#unjournaled.delete(rowKey);
      this.#rejected.delete(rowKey);
      this.#losses.lostRows++;
    }
  }

  /** Calls are serialized. Rows that arrive during a save are saved by the next call. */
  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#saveUnjournaled());
    return this.#saving;
  }

  async #saveUnjournaled(): Promise<void> {
    if (this.#journal === null || this.#unjournaled.size === 0) return;
    const rows = [...this.#unjournaled.values()];
    this.#unjournaled.clear();
    try {
      this.#losses.journalOverflowRows += await this.#journal.append(rows, this.#pending.values());
      this.#journalState.report(null);
    } catch (error) {
      // The next save retries the rows, except those that have a newer total by then.
      for (const row of rows)
        if (!this.#unjournaled.has(rowKeyOf(row))) this.#unjournaled.set(rowKeyOf(row), row);
      this.#journalState.report(error);
    }
  }

  async #write(): Promise<void> {
    try {
      await this.#writePending();
      this.#storeState.report(null);
      await this.#recoverOrphans();
      this.#rejectedState.report(this.#rejected.size > 0 ? this.#rejection : this.#orphansRejection);
    } catch (error) {
      this.#storeState.report(error);
      // Journals rows that did not go to the journal first.
      await this.#save();
    }
  }

  async #writePending(): Promise<void> {
    const now = performance.now();
    const due = [...this.#pending].filter(([rowKey]) => (this.#rejected.get(rowKey) ?? now) <= now);
    for (const batch of chunk(due, this.#options.sink.batchRows)) {
      const rejected = await this.#writeBatch(batch.map(([, row]) => row));
      for (const [rowKey, row] of batch) {
        if (rejected.has(row) && this.#pending.has(rowKey))
          this.#rejected.set(rowKey, now + REJECTED_RETRY_MS);
        else this.#forget(rowKey, row);
      }
    }
    if (this.#pending.size === this.#rejected.size) await this.#compactJournal();
  }

  /** Returns the rows that the store rejects. They stay pending, and do not block others. */
  async #writeBatch(rows: readonly StoredUsage[]): Promise<ReadonlySet<StoredUsage>> {
    try {
      this.#losses.lateRows += await this.#options.sink.write(this.runId, rows, this.#gateway);
      return new Set();
    } catch (error) {
      if (!(error instanceof RejectedRows)) throw error;
      this.#rejection = error;
      this.#losses.lateRows += error.lateRows;
      return new Set(error.rows);
    }
  }

  /** Removes a row unless a newer total arrived during the write. */
  #forget(rowKey: string, row: StoredUsage): void {
    this.#rejected.delete(rowKey);
    if (this.#pending.get(rowKey) === row) this.#pending.delete(rowKey);
    if (this.#unjournaled.get(rowKey) === row) this.#unjournaled.delete(rowKey);
  }

  /** Removes stored rows from the journal, unless a flush has added others in the meantime. */
  #compactJournal(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      if (this.#journal === null || this.#pending.size > this.#rejected.size) return;
      if (this.#pending.size === 0) await this.#journal.clear().catch(() => undefined);
      else await this.#journal.compact(this.#pending.values()).catch(() => undefined);
    });
    return this.#saving;
  }

  async #recoverOrphans(): Promise<void> {
    const { sink, journalFolder, onJournalRecovered } = this.#options;
    if (journalFolder === null || performance.now() < this.#nextRecoveryAt) return;
    try {
      this.#orphansRejection = await recoverJournals(sink, journalFolder, onJournalRecovered);
      const retryMs = this.#orphansRejection === null ? Number.POSITIVE_INFINITY : REJECTED_RETRY_MS;
      this.#nextRecoveryAt = performance.now() + retryMs;
      this.#recoveryState.report(null);
    } catch (error) {
      this.#nextRecoveryAt = performance.now() + RECOVERY_RETRY_MS;
      this.#recoveryState.report(error);
    }
  }
}
