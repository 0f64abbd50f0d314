import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener } from '../../streams/geyser/geyser-source.ts';
import { withJitter } from '../exponential-backoff.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { updatesOf } from './block-updates.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { RequestedKinds } from './merge-filters.ts';
import type { ReplayResult } from './replay.ts';
import type { SlotRange, UpdateMerge } from './update-merge.ts';

export type GapRepairOptions = Readonly<{
  merge: UpdateMerge;
  /** Lets servers tell slots again. */
  replay: (range: SlotRange) => Promise<ReplayResult>;
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  requestedKinds: () => RequestedKinds;
  listener: Pick<GeyserListener, 'onLost'>;
  limits: Pick<GeyserSourceOptions, 'fillTimeoutMs' | 'fillSlotsMax' | 'stallMs'>;
  log: Logger;
}>;

/** Between two attempts. */
const PAUSE_MS = 250;

const logFields = ({ from, to }: SlotRange): object => ({ from: Number(from), to: Number(to) });

/** Slots that nobody is about to tell: a server replays them, or blocks are read, or they are given up. */
export class GapRepair {
  readonly #options: GapRepairOptions;
  readonly #end = new AbortController();
  #isBusy = false;

  constructor(options: GapRepairOptions) {
    this.#options = options;
  }

  /** Repairs what keeps slots waiting, if anything does. */
  check(): void {
    if (this.#isBusy || this.#end.signal.aborted) return;
    const range = this.#options.merge.missingRange(performance.now());
    if (range === null) return;
    this.#isBusy = true;
    void this.#repair(range)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : 'unknown';
        this.#options.log.warn({ ...logFields(range), reason }, 'missing slots are given up');
        this.#options.merge.giveUp(range);
      })
      .finally(() => {
        this.#isBusy = false;
        this.check();
      });
  }

  close(): void {
    this.#end.abort();
  }

  /** Tries for as long as it may take: what is away now may be back soon. */
  async #repair(range: SlotRange): Promise<void> {
    const { merge, log, limits } = this.#options;
    const { signal } = this.#end;
    log.warn(logFields(range), 'slots are missing in what Geyser servers tell');
    const startedAt = performance.now();
    for (;;) {
      const remaining = merge.missingRange(performance.now());
      if (remaining === null || remaining.to !== range.to || signal.aborted) return;
      const triedMs = performance.now() - startedAt;
      if (triedMs > limits.fillTimeoutMs) {
        log.warn(logFields(remaining), 'missing slots are given up');
        merge.giveUp(remaining);
        return;
      }
      await this.#tryOnce(remaining, triedMs);
      if (merge.missingRange(performance.now()) === null) return;
      const pause = withJitter(PAUSE_MS);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** A server that is away, and may replay when it is back, is better than blocks. */
  async #tryOnce(range: SlotRange, triedMs: number): Promise<void> {
    const { merge, log, limits, replay, requestedKinds } = this.#options;
    const result = await replay(range);
    const remaining = merge.missingRange(performance.now());
    if (remaining === null || this.#end.signal.aborted) return;
    const { accounts, entries } = requestedKinds();
    if (result === 'away' && (accounts || entries) && triedMs < limits.stallMs) return;
    try {
      await this.#fill(remaining);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const reason = error instanceof Error ? error.name : 'unknown';
      log.warn({ ...logFields(remaining), reason }, 'missing slots cannot be read from blocks');
    }
  }

  /** Blocks say all but what became of accounts, and where entries begin. @throws what reading the chain does. */
  async #fill({ from, to }: SlotRange): Promise<void> {
    const { reader, merge, limits, requestedKinds, listener } = this.#options;
    if (to - from >= BigInt(limits.fillSlotsMax)) return;
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(limits.fillTimeoutMs)]);
    const slots = await reader.slots(from, to, 'confirmed', signal);
    const streamReader = merge.addReader({ from: null, tip: null, fillsIn: false, seals: false });
    const { accounts, entries } = requestedKinds();
    const missing = new Set<RawUpdate['kind']>([
      ...(accounts ? (['account'] as const) : []),
      ...(entries ? (['entry'] as const) : []),
    ]);
    try {
      await reader.eachBlock(slots, signal, (block) => {
        if (merge.record(block.slot)?.isSettled !== false) return;
        if (missing.size > 0) listener.onLost(block.slot, block.slot, missing);
        for (const update of updatesOf(block)) streamReader.take(update);
      });
    } finally {
      merge.removeReader(streamReader);
    }
  }
}
