import { randomUUID } from 'node:crypto';
import type { UsageMeter, UsageRow } from '../../gateway/metering/usage-meter.ts';
import type { Store } from '../database/open.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import {
  type RecoveredJournal,
  recoverJournals,
  UsageJournal,
  usageJournalOptions,
} from './usage-journal.ts';
import { rowKeyOf, type StoredUsage, storedUsage, storeUsage } from './usage-rows.ts';

export const usageWriterOptions = {
  /** A kill loses at most this much. */
  flushIntervalMs: 1_000,
  /** The oldest beyond it are dropped and counted. */
  pendingRowsMax: 200_000,
  /** Per transaction: SQLite blocks meanwhile. */
  batchRows: { sqlite: 100, postgres: 200 },
  /** null: no journal; unstored rows are in memory only. */
  journalFolder: null as string | null,
  journalMaxBytes: usageJournalOptions.maxBytes,
  onState: (() => undefined) as OnState,
  onJournal: (() => undefined) as OnState,
  onJournalRecovered: (_journal: RecoveredJournal): void => undefined,
};

export type UsageWriterOptions = Readonly<
  typeof usageWriterOptions & { store: Store; source: Pick<UsageMeter, 'drain'> }
>;

const RECOVERY_RETRY_MS = 60_000;

/**
 * Flushes usage to the store. Failed writes are retried; failures never reach the request path. With
 * PostgreSQL, rows always go to the journal first; with SQLite only while a write fails or is slow.
 */
export class UsageWriter {
  readonly epoch: string = randomUUID();
  readonly #options: UsageWriterOptions;
  readonly #batchRows: number;
  readonly #journal: UsageJournal | null;
  readonly #state: FailureState;
  readonly #journalState: FailureState;
  /** Latest unstored total of each row, in order of arrival. */
  readonly #pending = new Map<string, StoredUsage>();
  /** Pending rows missing in the journal, too. */
  readonly #unsaved = new Map<string, StoredUsage>();
  #lostRows = 0;
  #lateRows = 0;
  #unsavedRows = 0;
  #nextRecoveryAt = 0;
  #saving: Promise<void> = Promise.resolve();
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: Partial<UsageWriterOptions> & Pick<UsageWriterOptions, 'store' | 'source'>) {
    this.#options = { ...usageWriterOptions, ...options };
    const { store, batchRows, journalFolder, journalMaxBytes, onState, onJournal } = this.#options;
    this.#batchRows = batchRows[store.dialect];
    this.#journal =
      journalFolder === null ? null : new UsageJournal(journalFolder, this.epoch, journalMaxBytes);
    this.#state = new FailureState(onState);
    this.#journalState = new FailureState(onJournal);
  }

  get lostRows(): number {
    return this.#lostRows;
  }

  get lateRows(): number {
    return this.#lateRows;
  }

  get unsavedRows(): number {
    return this.#unsavedRows;
  }

  get pendingRows(): number {
    return this.#pending.size;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#options.flushIntervalMs);
  }

  /** Writes pending rows. During a write, new rows are only journaled, and the next flush writes them. Never rejects. */
  async flush(): Promise<void> {
    const rows = this.#options.source.drain();
    const isBehind = this.#state.isFailing || this.#writing !== null;
    this.#collect(rows);
    if (this.#options.store.dialect !== 'sqlite' || isBehind) await this.#save();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Flushes once more; unstored rows stay in the journal. */
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
      if (this.#journal !== null) this.#unsaved.set(rowKeyOf(stored), stored);
    }
    for (const name of this.#pending.keys()) {
      if (this.#pending.size <= this.#options.pendingRowsMax) break;
      this.#pending.delete(name);
      this.#unsaved.delete(name);
      this.#lostRows++;
    }
  }

  /** Serialized; rows that arrive meanwhile are saved by the next call. */
  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#saveUnsaved());
    return this.#saving;
  }

  async #saveUnsaved(): Promise<void> {
    if (this.#journal === null || this.#unsaved.size === 0) return;
    const rows = [...this.#unsaved.values()];
    this.#unsaved.clear();
    try {
      this.#unsavedRows += await this.#journal.append(rows, this.#pending.values());
      this.#journalState.report(null);
    } catch (error) {
      // Retried by the next save, unless a newer state exists.
      for (const row of rows) if (!this.#unsaved.has(rowKeyOf(row))) this.#unsaved.set(rowKeyOf(row), row);
      this.#journalState.report(error);
    }
  }

  async #write(): Promise<void> {
    try {
      await this.#writePending();
      this.#state.report(null);
      await this.#recoverOrphans();
    } catch (error) {
      this.#state.report(error);
      // Journals rows that SQLite could not store.
      await this.#save();
    }
  }

  async #writePending(): Promise<void> {
    const entries = [...this.#pending];
    for (let from = 0; from < entries.length; from += this.#batchRows) {
      const batch = entries.slice(from, from + this.#batchRows);
      this.#lateRows += await storeUsage(
        this.#options.store,
        this.epoch,
        batch.map(([, row]) => row),
      );
      for (const [name, row] of batch) this.#forget(name, row);
    }
    if (this.#pending.size === 0) await this.#clearJournal();
  }

  /** Removes only the state that was written; a newer one stays. */
  #forget(name: string, row: StoredUsage): void {
    if (this.#pending.get(name) === row) this.#pending.delete(name);
    if (this.#unsaved.get(name) === row) this.#unsaved.delete(name);
  }

  #clearJournal(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      // A flush may have journaled rows meanwhile.
      if (this.#pending.size === 0) await this.#journal?.clear().catch(() => undefined);
    });
    return this.#saving;
  }

  async #recoverOrphans(): Promise<void> {
    const { store, journalFolder, onJournal, onJournalRecovered } = this.#options;
    if (journalFolder === null || performance.now() < this.#nextRecoveryAt) return;
    this.#nextRecoveryAt = performance.now() + RECOVERY_RETRY_MS;
    try {
      await recoverJournals(store, journalFolder, this.#batchRows, onJournalRecovered);
      this.#nextRecoveryAt = Number.POSITIVE_INFINITY;
    } catch (error) {
      onJournal(error);
    }
  }
}
