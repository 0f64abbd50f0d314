import { randomUUID } from 'node:crypto';
import type { UsageRow } from '../../access/usage.ts';
import type { Store } from '../database/open.ts';
import { pruneUsage } from './usage-retention.ts';
import { touchKeys, upsertUsage } from './usage-rows.ts';

const DAY_MINUTES = 24 * 60;
const PRUNE_INTERVAL_MS = 3_600_000;

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
  /** Rows per transaction, small enough that an embedded store blocks for a few milliseconds. */
  batchRows?: number;
  /** Minutes older than this are deleted, once an hour. */
  retentionDays?: number;
  /** Hears when writing begins to fail, and with null when it works again. */
  onState?: (error: unknown | null) => void;
}>;

/** What holds when nothing else is said. */
export const usageWriterOptions = {
  flushIntervalMs: 1_000,
  pendingRowsMax: 200_000,
  batchRows: 200,
  retentionDays: 400,
} as const;

function nameOf(row: UsageRow): string {
  return `${row.minute} ${row.keyId ?? ''} ${row.product} ${row.method} ${row.status}`;
}

/**
 * Carries usage from memory into the store. What cannot be written stays and is tried again; a failure never
 * reaches the path of a request.
 */
export class UsageWriter {
  /** Names this run of this process in the store. */
  readonly epoch: string = randomUUID();
  readonly #store: Store;
  readonly #source: UsageSource;
  readonly #flushIntervalMs: number;
  readonly #pendingRowsMax: number;
  readonly #batchRows: number;
  readonly #retentionDays: number;
  readonly #onState: NonNullable<UsageWriterOptions['onState']>;
  /** Newest total of each row that is not stored yet, in the order in which they came. */
  readonly #pending = new Map<string, UsageRow>();
  #lostRows = 0;
  #failing = false;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #flushing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: UsageWriterOptions) {
    this.#store = options.store;
    this.#source = options.source;
    this.#flushIntervalMs = options.flushIntervalMs ?? usageWriterOptions.flushIntervalMs;
    this.#pendingRowsMax = options.pendingRowsMax ?? usageWriterOptions.pendingRowsMax;
    this.#batchRows = options.batchRows ?? usageWriterOptions.batchRows;
    this.#retentionDays = options.retentionDays ?? usageWriterOptions.retentionDays;
    this.#onState = options.onState ?? (() => undefined);
  }

  /** Rows given up because the store stayed away too long. */
  get lostRows(): number {
    return this.#lostRows;
  }

  /** Rows that wait to be stored. */
  get pendingRows(): number {
    return this.#pending.size;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#flushIntervalMs);
  }

  /** Writes what is there. Never rejects; resolves when this attempt is over. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /** Stops the timer and writes once more. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#flushing;
    await this.flush();
  }

  async #flush(): Promise<void> {
    try {
      this.#take(this.#source.drain());
      await this.#writeAll();
      await this.#prune();
      if (this.#failing) this.#onState(null);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#onState(error);
      this.#failing = true;
    }
  }

  #take(rows: readonly UsageRow[]): void {
    for (const row of rows) this.#pending.set(nameOf(row), row);
    for (const name of this.#pending.keys()) {
      if (this.#pending.size <= this.#pendingRowsMax) break;
      this.#pending.delete(name);
      this.#lostRows++;
    }
  }

  async #writeAll(): Promise<void> {
    const entries = [...this.#pending];
    for (let from = 0; from < entries.length; from += this.#batchRows) {
      const batch = entries.slice(from, from + this.#batchRows);
      await this.#writeBatch(batch.map(([, row]) => row));
      for (const [name] of batch) this.#pending.delete(name);
    }
  }

  async #prune(): Promise<void> {
    if (performance.now() - this.#prunedAt < PRUNE_INTERVAL_MS) return;
    const today = Math.floor(Date.now() / 60_000);
    await pruneUsage(this.#store, today - this.#retentionDays * DAY_MINUTES);
    this.#prunedAt = performance.now();
  }

  #writeBatch(rows: readonly UsageRow[]): Promise<void> {
    return this.#store.db.transaction().execute(async (trx) => {
      await upsertUsage(trx, this.epoch, rows);
      await touchKeys(trx, rows, Date.now());
    });
  }
}
