import { hash } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import { verify } from '../../solana/ed25519.ts';
import type { Shred } from '../../solana/shred/parse-shred.ts';
import { merkleRoot } from '../../solana/shred/proven-nodes.ts';
import { SIGNATURE_BYTES } from '../../solana/shred/shred-layout.ts';
import type { DeshredLimits } from './deshred-limits.ts';
import type { FecSet } from './fec-set.ts';
import { InvalidSignatureLimit } from './invalid-signature-limit.ts';
import { UnverifiedShreds } from './unverified-shreds.ts';

/** Packets that waited with a shred and share its lot. */
type WithWaiting = Readonly<{ waiting: readonly Uint8Array[] }>;

/** What a shred's signature proves. */
export type VerificationResult =
  | (WithWaiting & Readonly<{ kind: 'sibling' }>)
  /** The first of its set: the root is null for a legacy shred. */
  | (WithWaiting & Readonly<{ kind: 'first'; root: Uint8Array | null }>)
  | (WithWaiting & Readonly<{ kind: 'forged' | 'equivocation' | 'duplicate' | 'unjudged' }>)
  /** It waits to be judged; so many packets that waited had to go for it. */
  | Readonly<{ kind: 'waits'; evicted: number }>;

const NONE: readonly Uint8Array[] = [];
const SIBLING: VerificationResult = { kind: 'sibling', waiting: NONE };
const INVALID: VerificationResult = { kind: 'forged', waiting: NONE };
const UNVERIFIED: VerificationResult = { kind: 'unjudged', waiting: NONE };
const DUPLICATE: VerificationResult = { kind: 'duplicate', waiting: NONE };
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
