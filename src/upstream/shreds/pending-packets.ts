import type { Slot } from '../../solana/units.ts';

/** What a packet takes beside its bytes, about. */
const OVERHEAD_BYTES = 200;

/** Packets of slots whose leader is not known yet. Bounded: the oldest goes first. */
export class PendingPackets {
  readonly #bytesMax: number;
  #packets: { slot: Slot; packet: Uint8Array }[] = [];
  #first = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#packets.length - this.#first;
  }

  /** @returns how many others had to go for it. */
  add(slot: Slot, packet: Uint8Array): number {
    this.#packets.push({ slot, packet: new Uint8Array(packet) });
    this.#bytes += packet.length + OVERHEAD_BYTES;
    let evicted = 0;
    for (; this.#bytes > this.#bytesMax && this.size > 0; evicted++) {
      this.#bytes -= (this.#packets[this.#first]?.packet.length ?? 0) + OVERHEAD_BYTES;
      this.#first++;
    }
    if (this.#first * 2 > this.#packets.length) {
      this.#packets = this.#packets.slice(this.#first);
      this.#first = 0;
    }
    return evicted;
  }

  /** Takes out those that need wait no longer, in the order in which they came. */
  take(isKnown: (slot: Slot) => boolean): Uint8Array[] {
    const all = this.#packets.slice(this.#first);
    const slots = new Map<Slot, boolean>();
    for (const { slot } of all) if (!slots.has(slot)) slots.set(slot, isKnown(slot));
    const taken = all.filter(({ slot }) => slots.get(slot) === true);
    this.#packets = all.filter(({ slot }) => slots.get(slot) !== true);
    this.#first = 0;
    this.#bytes -= taken.reduce((sum, { packet }) => sum + packet.length + OVERHEAD_BYTES, 0);
    return taken.map(({ packet }) => packet);
  }
}
