import type { Block } from '../../solana/block.ts';
import type { Slot } from '../../solana/units.ts';

export type BlockCacheOptions = Readonly<{
  blocksMax: number;
  /** The newest one is kept whatever its size. */
  bytesMax: number;
  /** They are forgotten when nobody asks for any so long: nobody follows. */
  idleMs: number;
}>;

type CachedBlock = { readonly read: Promise<Block>; bytes: number };

/** Decoded blocks, or reads that will give them, for whoever asks next; what was not asked for longest goes first. */
export class BlockCache {
  readonly #options: BlockCacheOptions;
  readonly #blocks = new Map<Slot, CachedBlock>();
  #bytes = 0;
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(options: BlockCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#blocks.size;
  }

  get(slot: Slot): Promise<Block> | undefined {
    const cached = this.#blocks.get(slot);
    if (cached === undefined) return undefined;
    this.#blocks.delete(slot);
    this.#blocks.set(slot, cached);
    this.#idleTimer?.refresh();
    return cached.read;
  }

  /** Its size counts once it is known: see `weigh`. */
  set(slot: Slot, read: Promise<Block>): void {
    this.delete(slot);
    this.#blocks.set(slot, { read, bytes: 0 });
    this.#trim();
    this.#idleTimer ??= setTimeout(() => this.clear(), this.#options.idleMs).unref();
    this.#idleTimer.refresh();
  }

  /** @param bytes - what a node sent, which is about what it takes decoded. */
  setSize(slot: Slot, bytes: number): void {
    const cached = this.#blocks.get(slot);
    if (cached === undefined) return;
    this.#bytes += bytes - cached.bytes;
    cached.bytes = bytes;
    this.#trim();
  }

  delete(slot: Slot): void {
    this.#bytes -= this.#blocks.get(slot)?.bytes ?? 0;
    this.#blocks.delete(slot);
  }

  clear(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
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
