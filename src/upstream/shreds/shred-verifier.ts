import { bytesKey } from '../../base/bytes-key.ts';
import { Lru } from '../../base/lru.ts';
import { verify } from '../../ledger/ed25519.ts';
import { merkleRoot } from '../../ledger/shred/merkle-tree.ts';
import type { Shred } from '../../ledger/shred/parse-shred.ts';
import { SIGNATURE_BYTES } from '../../ledger/shred/shred-layout.ts';
import type { FecSet } from './fec-set.ts';

/** What a shred's signature proves. */
export type Verdict =
  | Readonly<{ kind: 'sibling' }>
  /** The first of its set: the root is null for a legacy shred. */
  | Readonly<{ kind: 'first'; root: Uint8Array | null }>
  | Readonly<{ kind: 'forged' | 'unjudged' | 'equivocation' }>;

const SIBLING: Verdict = { kind: 'sibling' };
const FORGED: Verdict = { kind: 'forged' };
const UNJUDGED: Verdict = { kind: 'unjudged' };
const EQUIVOCATION: Verdict = { kind: 'equivocation' };

/**
 * Wrong signatures that are found out in a second. Beyond them a shred that needs a signature verified is dropped
 * unseen: a flood of forged ones must not take the time that the others need. Right ones count for nothing, and a set
 * needs one of its shreds judged only, so the leader's own come through.
 */
export const FORGED_PER_SECOND_MAX = 2_000;

/** What may still be found wrong now: fills up in a second. */
class Budget {
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #at: number;

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = perSecond;
    this.#at = now();
  }

  get isSpent(): boolean {
    if (this.#left >= 1) return false;
    const now = this.#now();
    this.#left = Math.min(this.#perSecond, this.#left + ((now - this.#at) * this.#perSecond) / 1000);
    this.#at = now;
    return this.#left < 1;
  }

  spend(): void {
    this.#left--;
  }
}

/**
 * Decides whether a shred is its leader's. The signature of a merkle set is verified once: its other shreds only have
 * to be under the same root. Signatures that are wrong are remembered, so that sending one again costs little.
 */
export class ShredVerifier {
  readonly #rejected: Lru<string, true>;
  readonly #forged: Budget;
  /** Verifications of signatures. */
  signatures = 0;

  /** @param now - milliseconds that only grow. */
  constructor(rejectedMax: number, now: () => number = () => performance.now()) {
    this.#rejected = new Lru(rejectedMax);
    this.#forged = new Budget(FORGED_PER_SECOND_MAX, now);
  }

  /** @param set - the shreds of the same set that were verified before. */
  judge(shred: Shred, leader: Uint8Array, set: FecSet | undefined): Verdict {
    if (shred.layout.isLegacy) return this.#judgeLegacy(shred, leader, set);
    if (set?.isSigned(shred)) return set.proves(shred) ? SIBLING : FORGED;
    if (this.#forged.isSpent) return UNJUDGED;
    const root = merkleRoot(shred);
    if (root === null || !this.#isSigned(shred, root, leader)) return FORGED;
    if (set === undefined) return { kind: 'first', root };
    const isSameRoot = set.proven !== null && Buffer.compare(set.proven.root, root) === 0;
    return isSameRoot && set.proves(shred) ? SIBLING : EQUIVOCATION;
  }

  #judgeLegacy(shred: Shred, leader: Uint8Array, set: FecSet | undefined): Verdict {
    if (this.#forged.isSpent) return UNJUDGED;
    if (!this.#isSigned(shred, shred.bytes.subarray(SIGNATURE_BYTES), leader)) return FORGED;
    return set === undefined ? { kind: 'first', root: null } : SIBLING;
  }

  #isSigned({ bytes, layout }: Shred, message: Uint8Array, leader: Uint8Array): boolean {
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const key = layout.isLegacy ? null : bytesKey(signature) + bytesKey(message) + bytesKey(leader);
    if (key !== null && this.#rejected.get(key) === true) return false;
    this.signatures++;
    if (verify(signature, message, leader)) return true;
    this.#forged.spend();
    if (key !== null) this.#rejected.set(key, true);
    return false;
  }
}
