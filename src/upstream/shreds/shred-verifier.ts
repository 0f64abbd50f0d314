import { hash } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import { verify } from '../../solana/ed25519.ts';
import { merkleRoot } from '../../solana/shred/merkle-tree.ts';
import type { Shred } from '../../solana/shred/parse-shred.ts';
import { SIGNATURE_BYTES } from '../../solana/shred/shred-layout.ts';
import type { FecSet } from './fec-set.ts';
import type { DeshredLimits } from './shreds-config.ts';

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

const NO_PACKETS: readonly Uint8Array[] = [];

/**
 * Packets whose signature could not be looked at yet, by what they claim. Bounded: the group that grew least lately
 * goes first, whatever its size. Were it the smallest, whoever forges pairs would fill the room, and of an honest set
 * no first shred would stay until the second comes.
 */
class UnverifiedShreds {
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
    if (group === undefined) return NO_PACKETS;
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

/** A moment's worth of wrong signatures may be found out at once. */
const BURST_MS = 250;

/**
 * How many wrong signatures may still be found out now; what is spent comes back evenly. The less is left, the more
 * shreds must have a signature in common for it to be looked at: who forges single shreds uses up what is there for
 * single ones, and leaves the rest to those that many vouch for.
 */
class InvalidSignatureLimit {
  readonly #perMs: number;
  readonly #max: number;
  readonly #now: () => number;
  #remaining: number;
  #at: number;

  /** @param now - milliseconds that only grow. */
  constructor(perSecond: number, now: () => number) {
    this.#perMs = perSecond / 1_000;
    this.#max = Math.max(1, this.#perMs * BURST_MS);
    this.#now = now;
    this.#remaining = this.#max;
    this.#at = now();
  }

  /** Whether a signature that so many shreds have in common may be looked at, should it be wrong. */
  allows(shreds: number): boolean {
    const reserve = Math.max(1, this.#max / (shreds + 1));
    if (this.#remaining >= reserve) return true;
    const now = this.#now();
    this.#remaining = Math.min(this.#max, this.#remaining + (now - this.#at) * this.#perMs);
    this.#at = now;
    return this.#remaining >= reserve;
  }

  spend(): void {
    this.#remaining--;
  }
}

/** Packets that waited with a shred and share its lot. */
type WithWaiting = Readonly<{ waiting: readonly Uint8Array[] }>;

/** What a shred's signature proves. */
type VerificationResult =
  | (WithWaiting & Readonly<{ kind: 'sibling' }>)
  /** The first of its set: the root is null for a legacy shred. */
  | (WithWaiting & Readonly<{ kind: 'first'; root: Uint8Array | null }>)
  | (WithWaiting & Readonly<{ kind: 'forged' | 'equivocation' | 'duplicate' | 'unjudged' }>)
  /** It waits to be judged; so many packets that waited had to go for it. */
  | Readonly<{ kind: 'waits'; evicted: number }>;

const SIBLING: VerificationResult = { kind: 'sibling', waiting: NO_PACKETS };
const INVALID: VerificationResult = { kind: 'forged', waiting: NO_PACKETS };
const UNVERIFIED: VerificationResult = { kind: 'unjudged', waiting: NO_PACKETS };
const DUPLICATE: VerificationResult = { kind: 'duplicate', waiting: NO_PACKETS };
const WAITING: VerificationResult = { kind: 'waits', evicted: 0 };

/**
 * Decides whether a shred is its leader's. The signature of a merkle set is verified once: its other shreds only have
 * to be under the same root. Signatures that are wrong are remembered, so that sending one again costs little, and only
 * so many are found out in a second; a shred that needs one verified beyond that waits, and comes the sooner the more
 * others wait with it. Right ones count for nothing.
 */
export class ShredVerifier {
  readonly #rejected: Lru<string, true>;
  readonly #invalidLimit: InvalidSignatureLimit;
  readonly #unverified: UnverifiedShreds;
  /** Verifications of signatures. */
  signatures = 0;

  /** @param now - milliseconds that only grow. */
  constructor(
    limits: Pick<DeshredLimits, 'rejectedMax' | 'forgedPerSecondMax' | 'unjudgedBytesMax'>,
    now: () => number = () => performance.now(),
  ) {
    this.#rejected = new Lru(limits.rejectedMax);
    this.#invalidLimit = new InvalidSignatureLimit(limits.forgedPerSecondMax, now);
    this.#unverified = new UnverifiedShreds(limits.unjudgedBytesMax);
  }

  /** Of packets that wait to be judged. */
  get unverifiedBytes(): number {
    return this.#unverified.bytes;
  }

  /** @param set - the shreds of the same set that were verified before. */
  check(shred: Shred, leader: Uint8Array, set: FecSet | undefined): VerificationResult {
    const { isLegacy } = shred.layout;
    if (!isLegacy && set?.isSigned(shred) === true) return set.proves(shred) ? SIBLING : INVALID;
    const message = isLegacy ? shred.bytes.subarray(SIGNATURE_BYTES) : merkleRoot(shred);
    if (message === null) return INVALID;
    const claim = claimOf(shred, message, leader);
    if (this.#rejected.get(claim) === true) return INVALID;
    if (this.#unverified.has(claim, shred.leafIndex)) return DUPLICATE;
    if (!this.#invalidLimit.allows(this.#unverified.sizeOf(claim) + 1)) return this.#defer(shred, claim, set);
    const isSigned = this.isSigned(shred, message, leader);
    const waiting = this.#unverified.take(claim);
    if (!isSigned) {
      this.#invalidLimit.spend();
      this.#rejected.set(claim, true);
      return waiting.length === 0 ? INVALID : { kind: 'forged', waiting };
    }
    if (set === undefined) return { kind: 'first', root: isLegacy ? null : message, waiting };
    if (isLegacy || isUnder(set, message, shred)) return { kind: 'sibling', waiting };
    this.#invalidLimit.spend();
    return { kind: 'equivocation', waiting };
  }

  /**
   * Verifies a signature, whatever that costs.
   * @param message - what is signed: the root, or the rest of a legacy shred.
   */
  isSigned({ bytes }: Shred, message: Uint8Array, leader: Uint8Array): boolean {
    this.signatures++;
    return verify(bytes.subarray(0, SIGNATURE_BYTES), message, leader);
  }

  /**
   * Takes out a packet that can be judged now, one of those that most others wait with.
   * @returns null when there is none.
   */
  takeWaiting(): Uint8Array | null {
    const { largest } = this.#unverified;
    if (largest === 0 || !this.#invalidLimit.allows(largest)) return null;
    return this.#unverified.takeOne() ?? null;
  }

  /** Forgets what waits. */
  clearWaiting(): void {
    this.#unverified.clear();
  }

  /** Another signature for a set that is known already can bring nothing new: it is not worth the room. */
  #defer(shred: Shred, claim: string, set: FecSet | undefined): VerificationResult {
    if (set !== undefined && !shred.layout.isLegacy) return UNVERIFIED;
    const evicted = this.#unverified.add(claim, shred.leafIndex, shred.bytes);
    return evicted === 0 ? WAITING : { kind: 'waits', evicted };
  }
}

const isUnder = (set: FecSet, root: Uint8Array, shred: Shred): boolean =>
  set.proven !== null && Buffer.compare(set.proven.root, root) === 0 && set.proves(shred);

/** That this leader put this signature under this message: a copy of the signature under another root claims another. */
function claimOf({ bytes, layout }: Shred, message: Uint8Array, leader: Uint8Array): string {
  const digest = layout.isLegacy ? hash('sha256', message, 'buffer') : message;
  return bytesKey(bytes.subarray(0, SIGNATURE_BYTES)) + bytesKey(digest) + bytesKey(leader);
}
