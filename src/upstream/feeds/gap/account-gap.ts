import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import type { Slot } from '../../../solana/units.ts';
import { contextSlot } from '../../slots/context-slot.ts';
import { canonicalJson } from './canonical-json.ts';
import { contextValue } from './context.ts';
import {
  type Continuity,
  type Gap,
  GapTooLong,
  gapWindow,
  type NotificationDecision,
  newer,
} from './continuity.ts';
import { type ReadAccount, readAccounts } from './read-accounts.ts';
import { writtenAccounts } from './written-accounts.ts';

/** A view of much larger bytes would keep all of them. */
const copiedIfView = (result: Buffer): Buffer =>
  result.buffer.byteLength > 2 * result.length ? Buffer.from(result) : result;

/**
 * `account`: its state is read again and told when it is another than the one told last; states between the two
 * are gone, as they are when an account changes twice within a slot. Nothing older follows what is newer, also
 * from a node that is behind the one before. When
 * nothing was told yet, it is told if a block of the gap may have written the account, or if the gap is longer
 * than is looked through.
 */
export class AccountGap implements Continuity {
  readonly #subscription: SubscriptionOf<'account'>;
  #last: Buffer | null = null;
  /** After a move: what was told or read holds for all slots up to this one. */
  #validUpTo: Slot | null = null;

  constructor(subscription: SubscriptionOf<'account'>) {
    this.#subscription = subscription;
  }

  decide(result: Buffer): NotificationDecision {
    if (this.#validUpTo !== null) {
      const slot = contextSlot(result);
      if (slot !== null && slot <= this.#validUpTo) return 'drop';
      this.#validUpTo = null;
    }
    this.#last = copiedIfView(result);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const { address, commitment, encoding } = this.#subscription;
    this.#validUpTo = newer(this.#validUpTo, this.#last === null ? null : contextSlot(this.#last));
    const notBefore = commitment === 'finalized' ? gap.to.root : gap.to.slot;
    const query = { addresses: [address], commitment, encoding, notBefore };
    for await (const [read] of readAccounts(gap.reader, query, gap.signal)) {
      // A state that the new connection told is newer than any that was missed.
      if (read === undefined || this.#isSuperseded(gap) || !(await this.#isNew(read, gap))) continue;
      this.#validUpTo = newer(this.#validUpTo, read.slot);
      this.#last = read.result();
      gap.emit(this.#last);
    }
  }

  #isSuperseded(gap: Gap): boolean {
    return gap.buffered().some((result) => (contextSlot(result) ?? 0n) > (this.#validUpTo ?? -1n));
  }

  async #isNew(read: ReadAccount, gap: Gap): Promise<boolean> {
    if (this.#last === null) return await this.#wasTouched(gap);
    const before = contextSlot(this.#last);
    if (before !== null && read.slot < before) return false;
    return canonicalJson(contextValue(read.result())) !== canonicalJson(contextValue(this.#last));
  }

  async #wasTouched(gap: Gap): Promise<boolean> {
    const { commitment } = this.#subscription;
    const history = commitment === 'finalized' ? commitment : 'confirmed';
    try {
      const { from, to } = gapWindow(gap, commitment, null);
      const slots = await gap.reader.slots(from, to, history, gap.signal);
      let touched = false;
      await gap.reader.eachBlock(slots, gap.signal, (block) => {
        touched ||= writtenAccounts(block).has(this.#subscription.address);
      });
      return touched;
    } catch (fault) {
      if (fault instanceof GapTooLong) return true;
      throw fault;
    }
  }
}
