import { randomUUID } from 'node:crypto';
import type { UsageRow } from '../../gateway/metering/usage-meter.ts';
import type { Store } from '../database/open.ts';
import { type RecoveredJournal, recoverJournals, UsageJournal } from './usage-journal.ts';
import { rowKeyOf, type StoredUsage, storedUsage, storeUsage } from './usage-rows.ts';

/** Where the rows come from: access/usage.ts. */
export interface UsageSource {
  /** Rows that changed since the last call, as running totals. */
  drain(): UsageRow[];
}

export type UsageWriterOptions = Readonly<{
  store: Store;
  source: UsageSource;
  /** A kill loses at most what was counted in this time. */
  flushIntervalMs?: number;
  /** Rows held while the store is away; beyond it the oldest are given up and counted. */
  pendingRowsMax?: number;
  /** Rows per transaction, by default so few that an embedded store blocks for a few milliseconds. */
  batchRows?: number;
  /** Where journals lie; null: what the store does not have is in memory only. */
  journalFolder?: string | null;
  journalMaxBytes?: number;
  /** Hears when writing begins to fail, and with null when it works again. */
  onState?: (error: unknown | null) => void;
  /** Hears when the journal begins to fail, and with null when it works again. */
  onJournal?: (error: unknown | null) => void;
  /** Hears of each journal of an earlier run that was taken up. */
  onJournalRecovered?: (journal: RecoveredJournal) => void;
}>;

/** What holds when nothing else is said. */
export const usageWriterOptions = {
  flushIntervalMs: 1_000,
  pendingRowsMax: 200_000,
  batchRows: { sqlite: 100, postgres: 200 },
} as const;

/** How long after a failed look at the journals of earlier runs the next one comes. */
const RECOVERY_RETRY_MS = 60_000;

/**
 * Carries usage from memory into the store. What cannot be written stays and is tried again; a failure never
 * reaches the path of a request.
 *
 * Each flush takes what was counted, puts it into the journal, and sends it to the store unless the flush before is
 * still at that. A PostgreSQL server may be slow or away at any moment, so rows always go into the journal first. An
 * embedded store is as near as the journal, and its commits are on the disk before they return: there the journal is
 * written only while a write fails or takes longer than a flush.
 */
export class UsageWriter {
  /** Names this run of this process in the store. */
  readonly epoch: string = randomUUID();
  readonly #store: Store;
  readonly #source: UsageSource;
  readonly #flushIntervalMs: number;
  readonly #pendingRowsMax: number;
  readonly #batchRows: number;
  readonly #journalFolder: string | null;
  readonly #journal: UsageJournal | null;
  readonly #onState: NonNullable<UsageWriterOptions['onState']>;
  readonly #onJournal: NonNullable<UsageWriterOptions['onJournal']>;
  readonly #onJournalRecovered: NonNullable<UsageWriterOptions['onJournalRecovered']>;
  /** Newest total of each row that is not stored yet, in the order in which they came. */
  readonly #pending = new Map<string, StoredUsage>();
  /** Those of them that the journal does not have either. */
  readonly #unsaved = new Map<string, StoredUsage>();
  #lostRows = 0;
  #lateRows = 0;
  #unsavedRows = 0;
  #failing = false;
  #journalFailing = false;
  #nextRecoveryAt = 0;
  #saving: Promise<void> = Promise.resolve();
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: UsageWriterOptions) {
    this.#store = options.store;
    this.#source = options.source;
    this.#flushIntervalMs = options.flushIntervalMs ?? usageWriterOptions.flushIntervalMs;
    this.#pendingRowsMax = options.pendingRowsMax ?? usageWriterOptions.pendingRowsMax;
    this.#batchRows = options.batchRows ?? usageWriterOptions.batchRows[options.store.dialect];
    this.#journalFolder = options.journalFolder ?? null;
    this.#journal =
      this.#journalFolder === null
        ? null
        : new UsageJournal(this.#journalFolder, this.epoch, options.journalMaxBytes);
    this.#onState = options.onState ?? (() => undefined);
    this.#onJournal = options.onJournal ?? (() => undefined);
    this.#onJournalRecovered = options.onJournalRecovered ?? (() => undefined);
  }

  /** Rows given up because the store stayed away too long. */
  get lostRows(): number {
    return this.#lostRows;
  }

  /** Rows that came when their minutes were deleted already. */
  get lateRows(): number {
    return this.#lateRows;
  }

  /** Rows that found no room in the journal. */
  get unsavedRows(): number {
    return this.#unsavedRows;
  }

  /** Rows that wait to be stored. */
  get pendingRows(): number {
    return this.#pending.size;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#flushIntervalMs);
  }

  /**
   * Puts what was counted into the journal and writes it, unless a flush is writing already: the next one then takes
   * it along. Never rejects; resolves when this attempt is over.
   */
  async flush(): Promise<void> {
    const rows = this.#source.drain();
    const isBehind = this.#failing || this.#writing !== null;
    this.#collect(rows);
    if (this.#store.dialect !== 'sqlite' || isBehind) await this.#save();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  /** Stops the timer and writes once more. What cannot be written is left in the journal. */
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
      if (this.#pending.size <= this.#pendingRowsMax) break;
      this.#pending.delete(name);
      this.#unsaved.delete(name);
      this.#lostRows++;
    }
  }

  /** One after the other; what came meanwhile goes with the next. */
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
      if (this.#journalFailing) this.#onJournal(null);
      this.#journalFailing = false;
    } catch (error) {
      // They are tried again with the next; newer states of them win.
      for (const row of rows) if (!this.#unsaved.has(rowKeyOf(row))) this.#unsaved.set(rowKeyOf(row), row);
      if (!this.#journalFailing) this.#onJournal(error);
      this.#journalFailing = true;
    }
  }

  async #write(): Promise<void> {
    try {
      await this.#writePending();
      if (this.#failing) this.#onState(null);
      this.#failing = false;
      await this.#recoverOrphans();
    } catch (error) {
      if (!this.#failing) this.#onState(error);
      this.#failing = true;
      // What the embedded store could not take, too.
      await this.#save();
    }
  }

  async #writePending(): Promise<void> {
    const entries = [...this.#pending];
    for (let from = 0; from < entries.length; from += this.#batchRows) {
      const batch = entries.slice(from, from + this.#batchRows);
      this.#lateRows += await storeUsage(
        this.#store,
        this.epoch,
        batch.map(([, row]) => row),
      );
      for (const [name, row] of batch) this.#forget(name, row);
    }
    if (this.#pending.size === 0) await this.#clearJournal();
  }

  /** Only the state that was written: a newer one may have come meanwhile. */
  #forget(name: string, row: StoredUsage): void {
    if (this.#pending.get(name) === row) this.#pending.delete(name);
    if (this.#unsaved.get(name) === row) this.#unsaved.delete(name);
  }

  #clearJournal(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      // A flush may have put something into it while this waited its turn.
      if (this.#pending.size === 0) await this.#journal?.clear().catch(() => undefined);
    });
    return this.#saving;
  }

  async #recoverOrphans(): Promise<void> {
    if (this.#journalFolder === null || performance.now() < this.#nextRecoveryAt) return;
    this.#nextRecoveryAt = performance.now() + RECOVERY_RETRY_MS;
    try {
      await recoverJournals(this.#store, this.#journalFolder, this.#batchRows, this.#onJournalRecovered);
      this.#nextRecoveryAt = Number.POSITIVE_INFINITY;
    } catch (error) {
      this.#onJournal(error);
    }
  }
}
