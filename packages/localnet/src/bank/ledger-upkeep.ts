import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../../../src/base/log.ts';
import type { HistoryIndex } from '../history/history-index.ts';
import { RECENT_BLOCKS_MAX } from '../history/recent-blocks.ts';
import { decodeBlock } from '../history/record-codec.ts';
import type { SegmentLog } from '../history/segment-log.ts';
import { removeOldSnapshots, snapshotSlots, writeSnapshot } from '../history/snapshot-file.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { UpkeepLimits } from './upkeep-limits.ts';

/** Records removed from the index per transaction. */
const REMOVE_BATCH = 64;

type UpkeepSources = Readonly<{
  dir: string;
  store: AccountsStore;
  log: SegmentLog;
  index: HistoryIndex;
  limits: UpkeepLimits;
  logger: Logger | null;
}>;

/**
 * Bounds start time and disk use. When a log segment is full, it starts the next one, writes a snapshot of
 * the finalized state, and deletes segments that neither the snapshot nor the history limit needs.
 */
export class LedgerUpkeep {
  readonly #sources: UpkeepSources;
  #work: Promise<void> | null = null;
  #isStopped = false;

  constructor(sources: UpkeepSources) {
    this.#sources = sources;
  }

  /**
   * Call after each freeze.
   * @param finalizedSlot - called once the finished segment is durable.
   */
  afterFreeze(tip: number, finalizedSlot: () => number): void {
    const { log, limits, logger } = this.#sources;
    const slots = tip + 1 - (log.segments.at(-1) ?? 0);
    if (log.segmentBytes < limits.segmentMaxBytes && slots < limits.segmentSlotsMax) return;
    log.rotate(tip + 1);
    if (this.#work !== null) return;
    this.#work = this.#snapshotAndTrim(tip, finalizedSlot())
      .catch((error: unknown) => logger?.error({ err: error }, 'ledger upkeep failed'))
      .finally(() => {
        this.#work = null;
      });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  async #snapshotAndTrim(tip: number, finalized: number): Promise<void> {
    const { dir, store, limits } = this.#sources;
    if (snapshotSlots(dir).includes(finalized)) return;
    const unpin = store.pin(finalized);
    try {
      await writeSnapshot(dir, finalized, store.entries(finalized));
    } finally {
      unpin();
    }
    const oldestSnapshot = removeOldSnapshots(dir);
    await this.#removeSegmentsBefore(
      Math.min(tip - limits.historySlotsMax, oldestSnapshot - RECENT_BLOCKS_MAX),
    );
  }

  async #removeSegmentsBefore(keepFrom: number): Promise<void> {
    const { log } = this.#sources;
    for (;;) {
      const [oldest, next] = log.segments;
      if (oldest === undefined || next === undefined || next > keepFrom || this.#isStopped) return;
      await this.#removeFromIndex(oldest);
      if (this.#isStopped) return;
      log.remove(oldest);
    }
  }

  async #removeFromIndex(segment: number): Promise<void> {
    const { log, index } = this.#sources;
    let batch = [];
    for (const [payload] of log.scan(segment)) {
      batch.push(decodeBlock(payload));
      if (batch.length < REMOVE_BATCH) continue;
      index.remove(batch);
      batch = [];
      await nextTurn();
      if (this.#isStopped) return;
    }
    index.remove(batch);
  }
}
