import type { Logger } from '../../base/log.ts';
import type { RawUpdate } from '../../protocol/geyser/raw-update.ts';
import type { GeyserListener } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import { updatesOf } from './block-updates.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';
import type { Hole, UpdateMerge } from './update-merge.ts';
import type { WantedKinds } from './wish-union.ts';

export type HoleRepairOptions = Readonly<{
  merge: UpdateMerge;
  /** Lets servers tell slots again. @returns whether one has. */
  replay: (hole: Hole) => Promise<boolean>;
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  wanted: () => WantedKinds;
  listener: Pick<GeyserListener, 'lost'>;
  limits: Pick<GeyserSourceOptions, 'fillTimeoutMs' | 'fillSlotsMax'>;
  log: Logger;
}>;

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
    void this.#repair(hole).finally(() => {
      this.#isBusy = false;
      this.look();
    });
  }

  close(): void {
    this.#end.abort();
  }

  async #repair(hole: Hole): Promise<void> {
    const { merge, log, replay } = this.#options;
    const { signal } = this.#end;
    const shown = ({ from, to }: Hole): object => ({ from: Number(from), to: Number(to) });
    log.warn(shown(hole), 'slots are missing in what Geyser servers tell');
    await replay(hole);
    const left = merge.hole(performance.now());
    if (left === null || signal.aborted) return;
    try {
      await this.#fill(left);
    } catch (error) {
      const reason = error instanceof Error ? error.name : 'unknown';
      if (!signal.aborted) log.warn({ ...shown(left), reason }, 'missing slots cannot be read from blocks');
    }
    const rest = merge.hole(performance.now());
    if (rest === null || rest.to !== left.to || signal.aborted) return;
    log.warn(shown(rest), 'missing slots are given up');
    merge.giveUp(rest);
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
