import { Lru } from '../../base/cache/lru.ts';

/** Shreds under one root with one signature: all are the leader's, or none is. */
type Group = {
  readonly claim: string;
  readonly packets: Uint8Array[];
  /** Their places in the tree. */
  readonly leaves: number[];
  /** Among the groups of the same size. */
  index: number;
};

/** What a packet takes beside its bytes, about, and a group beside its packets. */
const PACKET_OVERHEAD_BYTES = 200;
const GROUP_OVERHEAD_BYTES = 800;

const NONE: readonly Uint8Array[] = [];

/**
 * Packets whose signature could not be looked at yet, by what they claim. Bounded: the group that grew least lately
 * goes first, whatever its size. Were it the smallest, whoever forges pairs would fill the room, and of an honest set
 * no first shred would stay until the second comes.
 */
export class UnverifiedShreds {
  readonly #bytesMax: number;
  readonly #groups = new Lru<string, Group>(Number.MAX_SAFE_INTEGER, 0);
  /** By number of packets. */
  readonly #bySize: Group[][] = [[]];
  #largest = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Packets of the largest group; 0 when there is none. */
  get largest(): number {
    return this.#largest;
  }

  /** How many packets make a claim. */
  sizeOf(claim: string): number {
    return this.#largest === 0 ? 0 : (this.#groups.get(claim)?.packets.length ?? 0);
  }

  has(claim: string, leaf: number): boolean {
    return this.#largest > 0 && this.#groups.get(claim)?.leaves.includes(leaf) === true;
  }

  /**
   * @param packet - is copied.
   * @returns how many packets had to go for it.
   */
  add(claim: string, leaf: number, packet: Uint8Array): number {
    const group = this.#groups.get(claim) ?? this.#createGroup(claim);
    this.#removeFromSize(group);
    group.packets.push(new Uint8Array(packet));
    group.leaves.push(leaf);
    this.#addToSize(group);
    this.#bytes += packet.length + PACKET_OVERHEAD_BYTES;
    let evicted = 0;
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#groups.deleteOldest();
      if (oldest === undefined) break;
      evicted += oldest.packets.length;
      this.#dropGroup(oldest);
    }
    return evicted;
  }

  /** Takes out all that make a claim. */
  take(claim: string): readonly Uint8Array[] {
    const group = this.#largest === 0 ? undefined : this.#groups.get(claim);
    if (group === undefined) return NONE;
    this.#groups.delete(claim);
    this.#dropGroup(group);
    return group.packets;
  }

  /** Takes one packet out of one of the largest groups, by chance: no order can be used by who knows it. */
  takeOne(): Uint8Array | undefined {
    const largest = this.#bySize[this.#largest] as Group[];
    const group = largest[Math.floor(Math.random() * largest.length)];
    if (group === undefined) return undefined;
    if (group.packets.length === 1) return this.take(group.claim)[0];
    this.#removeFromSize(group);
    const packet = group.packets.pop() as Uint8Array;
    group.leaves.pop();
    this.#addToSize(group);
    this.#bytes -= packet.length + PACKET_OVERHEAD_BYTES;
    return packet;
  }

  clear(): void {
    for (let oldest = this.#groups.deleteOldest(); oldest !== undefined; ) {
      this.#dropGroup(oldest);
      oldest = this.#groups.deleteOldest();
    }
  }

  #createGroup(claim: string): Group {
    const group = { claim, packets: [], leaves: [], index: 0 };
    this.#groups.set(claim, group);
    this.#bytes += GROUP_OVERHEAD_BYTES;
    this.#addToSize(group);
    return group;
  }

  #dropGroup(group: Group): void {
    this.#removeFromSize(group);
    this.#bytes -= GROUP_OVERHEAD_BYTES;
    for (const packet of group.packets) this.#bytes -= packet.length + PACKET_OVERHEAD_BYTES;
  }

  #addToSize(group: Group): void {
    const size = group.packets.length;
    const groups = this.#bySize[size] ?? [];
    this.#bySize[size] = groups;
    group.index = groups.push(group) - 1;
    if (size > this.#largest) this.#largest = size;
  }

  /** The last of its size takes its place. */
  #removeFromSize(group: Group): void {
    const groups = this.#bySize[group.packets.length] as Group[];
    const last = groups.pop() as Group;
    if (last !== group) {
      groups[group.index] = last;
      last.index = group.index;
    }
    while (this.#largest > 0 && this.#bySize[this.#largest]?.length === 0) this.#largest--;
  }
}
