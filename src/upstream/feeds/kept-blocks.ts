import type { Block } from '../../ledger/block.ts';
import type { Slot } from '../../ledger/units.ts';

export type KeptBlocksOptions = Readonly<{
  blocksMax: number;
  /** The newest one is kept whatever its size. */
  bytesMax: number;
  /** They are forgotten when nobody asks for any so long: nobody follows. */
  idleMs: number;
}>;

type Kept = { readonly read: Promise<Block>; bytes: number };

/** Decoded blocks, or reads that will give them, for whoever asks next; what was not asked for longest goes first. */
export class KeptBlocks {
  readonly #options: KeptBlocksOptions;
  readonly #blocks = new Map<Slot, Kept>();
  #bytes = 0;
  #idle: NodeJS.Timeout | null = null;

  constructor(options: KeptBlocksOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#blocks.size;
  }

  get(slot: Slot): Promise<Block> | undefined {
    const kept = this.#blocks.get(slot);
    if (kept === undefined) return undefined;
    this.#blocks.delete(slot);
    this.#blocks.set(slot, kept);
    this.#idle?.refresh();
    return kept.read;
  }

  /** Its size counts once it is known: see `weigh`. */
  set(slot: Slot, read: Promise<Block>): void {
    this.delete(slot);
    this.#blocks.set(slot, { read, bytes: 0 });
    this.#trim();
    this.#idle ??= setTimeout(() => this.clear(), this.#options.idleMs).unref();
    this.#idle.refresh();
  }

  /** @param bytes - what a node sent, which is about what it takes decoded. */
  weigh(slot: Slot, bytes: number): void {
    const kept = this.#blocks.get(slot);
    if (kept === undefined) return;
    this.#bytes += bytes - kept.bytes;
    kept.bytes = bytes;
    this.#trim();
  }

  delete(slot: Slot): void {
    this.#bytes -= this.#blocks.get(slot)?.bytes ?? 0;
    this.#blocks.delete(slot);
  }

  clear(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    this.#blocks.clear();
    this.#bytes = 0;
  }

  #trim(): void {
    const { blocksMax, bytesMax } = this.#options;
    for (const slot of this.#blocks.keys()) {
      if (this.#blocks.size <= 1) return;
      if (this.#blocks.size <= blocksMax && this.#bytes <= bytesMax) return;
      this.delete(slot);
    }
  }
}
