import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../base/log.ts';
import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { spreadPause } from '../retry-pause.ts';
import { updatesOf } from './block-updates.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { Replayed } from './replay.ts';
import type { Hole, UpdateMerge } from './update-merge.ts';
import type { WantedKinds } from './wish-union.ts';

export type HoleRepairOptions = Readonly<{
  merge: UpdateMerge;
  /** Lets servers tell slots again. */
  replay: (hole: Hole) => Promise<Replayed>;
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  wanted: () => WantedKinds;
  listener: Pick<GeyserListener, 'lost'>;
  limits: Pick<GeyserSourceOptions, 'fillTimeoutMs' | 'fillSlotsMax' | 'stallMs'>;
  log: Logger;
}>;

/** Between two attempts. */
const PAUSE_MS = 250;

const shown = ({ from, to }: Hole): object => ({ from: Number(from), to: Number(to) });

/** Slots that nobody is about to tell: a server replays them, or blocks are read, or they are given up. */
export class HoleRepair {
  readonly #options: HoleRepairOptions;
  readonly #end = new AbortController();
  #isBusy = false;

  constructor(options: HoleRepairOptions) {
    this.#options = options;
  }

  /** Repairs what keeps slots waiting, if anything does. */
  look(): void {
    if (this.#isBusy || this.#end.signal.aborted) return;
    const hole = this.#options.merge.hole(performance.now());
    if (hole === null) return;
    this.#isBusy = true;
    void this.#repair(hole)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.name : 'unknown';
        this.#options.log.warn({ ...shown(hole), reason }, 'missing slots are given up');
        this.#options.merge.giveUp(hole);
      })
      .finally(() => {
        this.#isBusy = false;
        this.look();
      });
  }

  close(): void {
    this.#end.abort();
  }

  /** Tries for as long as it may take: what is away now may be back soon. */
  async #repair(hole: Hole): Promise<void> {
    const { merge, log, limits } = this.#options;
    const { signal } = this.#end;
    log.warn(shown(hole), 'slots are missing in what Geyser servers tell');
    const begin = performance.now();
    for (;;) {
      const left = merge.hole(performance.now());
      if (left === null || left.to !== hole.to || signal.aborted) return;
      const tried = performance.now() - begin;
      if (tried > limits.fillTimeoutMs) {
        log.warn(shown(left), 'missing slots are given up');
        merge.giveUp(left);
        return;
      }
      await this.#tryOnce(left, tried);
      if (merge.hole(performance.now()) === null) return;
      const pause = spreadPause(PAUSE_MS);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  /** A server that is away, and may replay when it is back, is better than blocks. */
  async #tryOnce(hole: Hole, triedMs: number): Promise<void> {
    const { merge, log, limits, replay, wanted } = this.#options;
    const replayed = await replay(hole);
    const left = merge.hole(performance.now());
    if (left === null || this.#end.signal.aborted) return;
    const { accounts, entries } = wanted();
    if (replayed === 'away' && (accounts || entries) && triedMs < limits.stallMs) return;
    try {
      await this.#fill(left);
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const reason = error instanceof Error ? error.name : 'unknown';
      log.warn({ ...shown(left), reason }, 'missing slots cannot be read from blocks');
    }
  }

  /** Blocks say all but what became of accounts, and where entries begin. @throws what reading the chain does. */
  async #fill({ from, to }: Hole): Promise<void> {
    const { reader, merge, limits, wanted, listener } = this.#options;
    if (to - from >= BigInt(limits.fillSlotsMax)) return;
    const signal = AbortSignal.any([this.#end.signal, AbortSignal.timeout(limits.fillTimeoutMs)]);
    const slots = await reader.slots(from, to, 'confirmed', signal);
    const teller = merge.join({ from: null, tip: null, fillsIn: false, seals: false });
    const { accounts, entries } = wanted();
    const missing = new Set<RawUpdate['kind']>([
      ...(accounts ? (['account'] as const) : []),
      ...(entries ? (['entry'] as const) : []),
    ]);
    try {
      await reader.eachBlock(slots, signal, (block) => {
        if (merge.record(block.slot)?.isSettled !== false) return;
        if (missing.size > 0) listener.lost(block.slot, block.slot, missing);
        for (const update of updatesOf(block)) teller.take(update);
      });
    } finally {
      merge.leave(teller);
    }
  }
}
