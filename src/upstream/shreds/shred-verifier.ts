import { hash } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import { verify } from '../../solana/ed25519.ts';
import type { Shred } from '../../solana/shred/parse-shred.ts';
import { merkleRoot } from '../../solana/shred/proven-nodes.ts';
import { SIGNATURE_BYTES } from '../../solana/shred/shred-layout.ts';
import type { FecSet } from './fec-set.ts';
import type { DeshredLimits } from './shreds-config.ts';

/** Shreds with the same claim: leader, signature and message. Either all of them are valid or none is. */
type Group = {
  readonly claim: string;
  readonly packets: Uint8Array[];
  readonly leaves: number[];
  index: number;
};

const PACKET_OVERHEAD_BYTES = 200;
const GROUP_OVERHEAD_BYTES = 800;

const NO_PACKETS: readonly Uint8Array[] = [];

/**
 * Unverified packets, grouped by claim. At the limit, evicts the least recently used group, regardless of its size:
 * evicting the smallest group would let pairs of forged shreds displace honest sets whose second shred has not
 * arrived.
 */
class UnverifiedShreds {
  readonly #bytesMax: number;
  readonly #groups = new Lru<string, Group>(Number.MAX_SAFE_INTEGER, 0);
  readonly #bySize: Group[][] = [[]];
  #largest = 0;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get largest(): number {
    return this.#largest;
  }

  sizeOf(claim: string): number {
    return this.#largest === 0 ? 0 : (this.#groups.get(claim)?.packets.length ?? 0);
  }

  has(claim: string, leaf: number): boolean {
    return this.#largest > 0 && this.#groups.get(claim)?.leaves.includes(leaf) === true;
  }

  /** Copies the packet. Returns the number of evicted packets. */
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

  take(claim: string): readonly Uint8Array[] {
    const group = this.#largest === 0 ? undefined : this.#groups.get(claim);
    if (group === undefined) return NO_PACKETS;
    this.#groups.delete(claim);
    this.#dropGroup(group);
    return group.packets;
  }

  /** Removes a packet from one of the largest groups, chosen at random so that attackers cannot predict the order. */
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

const BURST_MS = 250;

/**
 * A budget for failed verifications. The less remains, the more shreds must share a signature before the signature is
 * verified, so lone forged shreds cannot use up the budget.
 */
class InvalidSignatureLimit {
  readonly #perMs: number;
  readonly #max: number;
  readonly #now: () => number;
  #remaining: number;
  #at: number;

  constructor(perSecond: number, now: () => number) {
    this.#perMs = perSecond / 1_000;
    this.#max = Math.max(1, this.#perMs * BURST_MS);
    this.#now = now;
    this.#remaining = this.#max;
    this.#at = now();
  }

  /** Whether to verify a signature that is shared by this many shreds. */
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

/** Deferred packets with the same claim, and thus the same result. */
type WithWaiting = Readonly<{ waiting: readonly Uint8Array[] }>;

type VerificationResult =
  | (WithWaiting & Readonly<{ kind: 'sibling' }>)
  /** First shred of its set; `root` is null for a legacy shred. */
  | (WithWaiting & Readonly<{ kind: 'first'; root: Uint8Array | null }>)
  | (WithWaiting & Readonly<{ kind: 'invalidSignature' | 'equivocation' | 'duplicate' | 'unverified' }>)
  /** Deferred. `evicted` is the number of other packets that were evicted. */
  | Readonly<{ kind: 'deferred'; evicted: number }>;

const SIBLING: VerificationResult = { kind: 'sibling', waiting: NO_PACKETS };
const INVALID: VerificationResult = { kind: 'invalidSignature', waiting: NO_PACKETS };
const UNVERIFIED: VerificationResult = { kind: 'unverified', waiting: NO_PACKETS };
const DUPLICATE: VerificationResult = { kind: 'duplicate', waiting: NO_PACKETS };
const WAITING: VerificationResult = { kind: 'deferred', evicted: 0 };

/**
 * Verifies that a shred is signed by the slot's leader. A merkle set needs only one verification: its other shreds
 * prove that they have the same root. Invalid signatures are remembered and rate-limited; valid signatures are not.
 * Beyond the limit, shreds are deferred, and the shreds of the most common claims are verified first.
 */
export class ShredVerifier {
  readonly #rejected: Lru<string, true>;
  readonly #invalidLimit: InvalidSignatureLimit;
  readonly #unverified: UnverifiedShreds;
  signatures = 0;

  constructor(
    limits: Pick<DeshredLimits, 'rejectedMax' | 'invalidSignaturesPerSecondMax' | 'deferredBytesMax'>,
    now: () => number = () => performance.now(),
  ) {
    this.#rejected = new Lru(limits.rejectedMax);
    this.#invalidLimit = new InvalidSignatureLimit(limits.invalidSignaturesPerSecondMax, now);
    this.#unverified = new UnverifiedShreds(limits.deferredBytesMax);
  }

  get unverifiedBytes(): number {
    return this.#unverified.bytes;
  }

  /** @param set - verified shreds of the same set, if any. */
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
      return waiting.length === 0 ? INVALID : { kind: 'invalidSignature', waiting };
    }
    if (set === undefined) return { kind: 'first', root: isLegacy ? null : message, waiting };
    if (isLegacy || isUnder(set, message, shred)) return { kind: 'sibling', waiting };
    this.#invalidLimit.spend();
    return { kind: 'equivocation', waiting };
  }

  /** @param message - the merkle root or, for a legacy shred, all bytes after the signature. */
  isSigned({ bytes }: Shred, message: Uint8Array, leader: Uint8Array): boolean {
    this.signatures++;
    return verify(bytes.subarray(0, SIGNATURE_BYTES), message, leader);
  }

  /** Takes a deferred packet from one of the largest groups; null if none may be verified now. */
  takeWaiting(): Uint8Array | null {
    const { largest } = this.#unverified;
    if (largest === 0 || !this.#invalidLimit.allows(largest)) return null;
    return this.#unverified.takeOne() ?? null;
  }

  clearWaiting(): void {
    this.#unverified.clear();
  }

  /** Does not defer a shred whose signature differs from that of its known set: such a shred cannot add anything. */
  #defer(shred: Shred, claim: string, set: FecSet | undefined): VerificationResult {
    if (set !== undefined && !shred.layout.isLegacy) return UNVERIFIED;
    const evicted = this.#unverified.add(claim, shred.leafIndex, shred.bytes);
    return evicted === 0 ? WAITING : { kind: 'deferred', evicted };
  }
}

const isUnder = (set: FecSet, root: Uint8Array, shred: Shred): boolean =>
  set.proven !== null && Buffer.compare(set.proven.root, root) === 0 && set.proves(shred);

/** Identifies leader, signature and message. A signature copied to another root is a different claim. */
function claimOf({ bytes, layout }: Shred, message: Uint8Array, leader: Uint8Array): string {
  const digest = layout.isLegacy ? hash('sha256', message, 'buffer') : message;
  return bytesKey(bytes.subarray(0, SIGNATURE_BYTES)) + bytesKey(digest) + bytesKey(leader);
}
