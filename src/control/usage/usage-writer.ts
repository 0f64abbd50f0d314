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
import { RefusedUsage, rowKeyOf, type StoredUsage, storedUsage, type UsageSink } from './usage-rows.ts';

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
};

export type UsageWriterOptions = Readonly<
  typeof usageWriterOptions & { sink: UsageSink; source: Pick<UsageMeter, 'drain'>; runId?: string }
>;

/** Soon, so that journals are stored as soon as the store is available. */
const RECOVERY_RETRY_MS = 2_000;
const REFUSED_RETRY_MS = 60_000;

/** Flushes usage to a store. Failed writes are retried and never affect requests. */
export class UsageWriter {
  readonly runId: string;
  readonly #options: UsageWriterOptions;
  readonly #journal: UsageJournal | null;
  readonly #state: FailureState;
  readonly #journalState: FailureState;
  readonly #recoveryState: FailureState;
  /** Latest unstored total of each row, in order of arrival. */
  readonly #pending = new Map<string, StoredUsage>();
  /** Pending rows that the store refused, and when to retry them. */
  readonly #refused = new Map<string, number>();
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
  #refusal: RefusedUsage | null = null;
  #saving: Promise<void> = Promise.resolve();
  #writing: Promise<void> | null = null;
  #gateway: string | undefined;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: Partial<UsageWriterOptions> & Pick<UsageWriterOptions, 'sink' | 'source'>) {
    this.#options = { ...usageWriterOptions, ...options };
    const { runId, journalFolder, journalMaxBytes } = this.#options;
    const { onStoreState, onJournalState, onRecoveryState } = this.#options;
    this.runId = runId ?? randomUUID();
    this.#journal =
      journalFolder === null ? null : new UsageJournal(journalFolder, this.runId, journalMaxBytes);
    this.#state = new FailureState(onStoreState);
    this.#journalState = new FailureState(onJournalState);
    this.#recoveryState = new FailureState(onRecoveryState);
  }

  /** Counters since startup. */
  get losses(): Readonly<Record<'lostRows' | 'lateRows' | 'journalOverflowRows', number>> {
    return this.#losses;
  }

  get pendingRows(): number {
    return this.#pending.size;
  }

  /** Whether the store refuses rows, or lacks those of earlier runs. */
  get isIncomplete(): boolean {
    return this.#refused.size > 0 || this.#recoveryState.isFailing;
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
    const isBehind = this.#state.isFailing || this.#writing !== null;
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
      this.#refused.delete(rowKey);
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
      this.#state.report(this.#refused.size === 0 ? null : this.#refusal);
      await this.#recoverOrphans();
    } catch (error) {
      this.#state.report(error);
      // Journals rows that did not go to the journal first.
      await this.#save();
    }
  }

  async #writePending(): Promise<void> {
    const now = performance.now();
    const due = [...this.#pending].filter(([rowKey]) => (this.#refused.get(rowKey) ?? now) <= now);
    for (const batch of chunk(due, this.#options.sink.batchRows)) {
      const refused = await this.#writeBatch(batch.map(([, row]) => row));
      for (const [rowKey, row] of batch) {
        if (refused.has(row)) this.#refused.set(rowKey, now + REFUSED_RETRY_MS);
        else this.#forget(rowKey, row);
      }
    }
    if (this.#pending.size === 0) await this.#clearJournal();
  }

  /** Returns the rows that the store refuses. They stay pending, and do not block others. */
  async #writeBatch(rows: readonly StoredUsage[]): Promise<ReadonlySet<StoredUsage>> {
    try {
      this.#losses.lateRows += await this.#options.sink.write(this.runId, rows, this.#gateway);
      return new Set();
    } catch (error) {
      if (!(error instanceof RefusedUsage)) throw error;
      this.#refusal = error;
      this.#losses.lateRows += error.lateRows;
      return new Set(error.rows);
    }
  }

  /** Removes a row unless a newer total arrived during the write. */
  #forget(rowKey: string, row: StoredUsage): void {
    this.#refused.delete(rowKey);
    if (this.#pending.get(rowKey) === row) this.#pending.delete(rowKey);
    if (this.#unjournaled.get(rowKey) === row) this.#unjournaled.delete(rowKey);
  }

  #clearJournal(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      // A flush may have added rows to the journal in the meantime.
      if (this.#pending.size === 0) await this.#journal?.clear().catch(() => undefined);
    });
    return this.#saving;
  }

  async #recoverOrphans(): Promise<void> {
    const { sink, journalFolder, onJournalRecovered } = this.#options;
    if (journalFolder === null || performance.now() < this.#nextRecoveryAt) return;
    try {
      await recoverJournals(sink, journalFolder, onJournalRecovered);
      this.#nextRecoveryAt = Number.POSITIVE_INFINITY;
      this.#recoveryState.report(null);
    } catch (error) {
      const retryMs = error instanceof RefusedUsage ? REFUSED_RETRY_MS : RECOVERY_RETRY_MS;
      this.#nextRecoveryAt = performance.now() + retryMs;
      this.#recoveryState.report(error);
    }
  }
}
