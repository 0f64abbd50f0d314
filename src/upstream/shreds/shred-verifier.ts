import { hash } from 'node:crypto';
import { bytesKey } from '../../base/bytes-key.ts';
import { Lru } from '../../base/lru.ts';
import { verify } from '../../ledger/ed25519.ts';
import { merkleRoot } from '../../ledger/shred/merkle-tree.ts';
import type { Shred } from '../../ledger/shred/parse-shred.ts';
import { SIGNATURE_BYTES } from '../../ledger/shred/shred-layout.ts';
import type { DeshredLimits } from './deshred-limits.ts';
import type { FecSet } from './fec-set.ts';
import { ForgeryBudget } from './forgery-budget.ts';
import { UnjudgedShreds } from './unjudged-shreds.ts';

/** Packets that waited with a shred and share its lot. */
type Waiting = Readonly<{ waiting: readonly Uint8Array[] }>;

/** What a shred's signature proves. */
export type Verdict =
  | (Waiting & Readonly<{ kind: 'sibling' }>)
  /** The first of its set: the root is null for a legacy shred. */
  | (Waiting & Readonly<{ kind: 'first'; root: Uint8Array | null }>)
  | (Waiting & Readonly<{ kind: 'forged' | 'equivocation' | 'duplicate' | 'unjudged' }>)
  /** It waits to be judged; so many packets that waited had to go for it. */
  | Readonly<{ kind: 'waits'; gone: number }>;

const NONE: readonly Uint8Array[] = [];
const SIBLING: Verdict = { kind: 'sibling', waiting: NONE };
const FORGED: Verdict = { kind: 'forged', waiting: NONE };
const UNJUDGED: Verdict = { kind: 'unjudged', waiting: NONE };
const DUPLICATE: Verdict = { kind: 'duplicate', waiting: NONE };
const WAITS: Verdict = { kind: 'waits', gone: 0 };

/**
 * Decides whether a shred is its leader's. The signature of a merkle set is verified once: its other shreds only have
 * to be under the same root. Signatures that are wrong are remembered, so that sending one again costs little, and only
 * so many are found out in a second; a shred that needs one verified beyond that waits, and comes the sooner the more
 * others wait with it. Right ones count for nothing.
 */
export class ShredVerifier {
  readonly #rejected: Lru<string, true>;
  readonly #budget: ForgeryBudget;
  readonly #unjudged: UnjudgedShreds;
  /** Verifications of signatures. */
  signatures = 0;

  /** @param now - milliseconds that only grow. */
  constructor(
    limits: Pick<DeshredLimits, 'rejectedMax' | 'forgedPerSecondMax' | 'unjudgedBytesMax'>,
    now: () => number = () => performance.now(),
  ) {
    this.#rejected = new Lru(limits.rejectedMax);
    this.#budget = new ForgeryBudget(limits.forgedPerSecondMax, now);
    this.#unjudged = new UnjudgedShreds(limits.unjudgedBytesMax);
  }

  /** Of packets that wait to be judged. */
  get unjudgedBytes(): number {
    return this.#unjudged.bytes;
  }

  /** @param set - the shreds of the same set that were verified before. */
  judge(shred: Shred, leader: Uint8Array, set: FecSet | undefined): Verdict {
    const { isLegacy } = shred.layout;
    if (!isLegacy && set?.isSigned(shred) === true) return set.proves(shred) ? SIBLING : FORGED;
    const message = isLegacy ? shred.bytes.subarray(SIGNATURE_BYTES) : merkleRoot(shred);
    if (message === null) return FORGED;
    const claim = claimOf(shred, message, leader);
    if (this.#rejected.get(claim) === true) return FORGED;
    if (this.#unjudged.has(claim, shred.leafIndex)) return DUPLICATE;
    if (!this.#budget.affords(this.#unjudged.sizeOf(claim) + 1)) return this.#postpone(shred, claim, set);
    const isSigned = this.isSigned(shred, message, leader);
    const waiting = this.#unjudged.take(claim);
    if (!isSigned) {
      this.#budget.spend();
      this.#rejected.set(claim, true);
      return waiting.length === 0 ? FORGED : { kind: 'forged', waiting };
    }
    if (set === undefined) return { kind: 'first', root: isLegacy ? null : message, waiting };
    if (isLegacy || isUnder(set, message, shred)) return { kind: 'sibling', waiting };
    this.#budget.spend();
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
    const { largest } = this.#unjudged;
    if (largest === 0 || !this.#budget.affords(largest)) return null;
    return this.#unjudged.takeOne() ?? null;
  }

  /** Forgets what waits. */
  forgetWaiting(): void {
    this.#unjudged.clear();
  }

  /** Another signature for a set that is known already can bring nothing new: it is not worth the room. */
  #postpone(shred: Shred, claim: string, set: FecSet | undefined): Verdict {
    if (set !== undefined && !shred.layout.isLegacy) return UNJUDGED;
    const gone = this.#unjudged.add(claim, shred.leafIndex, shred.bytes);
    return gone === 0 ? WAITS : { kind: 'waits', gone };
  }
}

const isUnder = (set: FecSet, root: Uint8Array, shred: Shred): boolean =>
  set.proven !== null && Buffer.compare(set.proven.root, root) === 0 && set.proves(shred);

/** That this leader put this signature under this message: a copy of the signature under another root claims another. */
function claimOf({ bytes, layout }: Shred, message: Uint8Array, leader: Uint8Array): string {
  const digest = layout.isLegacy ? hash('sha256', message, 'buffer') : message;
  return bytesKey(bytes.subarray(0, SIGNATURE_BYTES)) + bytesKey(digest) + bytesKey(leader);
}
