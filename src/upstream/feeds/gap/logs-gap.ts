import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Block } from '../../../ledger/block.ts';
import { isSimpleVote } from '../../../ledger/transaction/simple-vote.ts';
import type { Slot } from '../../../ledger/units.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import { LogsWatchers } from '../../../streams/notifier/logs-watchers.ts';
import { ToldTransaction } from '../../../streams/notifier/told-transaction.ts';
import { contextSlot } from '../../slots/told-slot.ts';
import { contextValue, rawMembers } from './context.ts';
import { type Continuity, type Gap, gapWindow, newer, type Verdict } from './continuity.ts';
import { Seen } from './seen.ts';

const VALUE = Buffer.from('"value":{"signature":"');
/** In the order in which nodes write it, the signature begins within so many bytes. */
const HEAD_BYTES = 80;
const QUOTE = 0x22;

/** The signature that a logsNotification is of; null when it has none. */
function signatureOf(result: Buffer): string | null {
  const at = result.subarray(0, HEAD_BYTES).indexOf(VALUE);
  if (at >= 0) {
    const start = at + VALUE.length;
    const end = result.indexOf(QUOTE, start);
    return end < 0 ? null : result.toString('latin1', start, end);
  }
  return rawMembers(contextValue(result)).get('signature')?.toString('latin1').slice(1, -1) ?? null;
}

/**
 * `logs`: each transaction of the gap's blocks that is asked for is told once, in order, from confirmed blocks (or
 * finalized ones) whatever the commitment; a transaction is known by its signature.
 */
export class LogsGap implements Continuity {
  readonly #subscription: SubscriptionOf<'logs'>;
  readonly #seen: Seen;
  /** The newest slot of which a connection told. */
  #told: Slot | null = null;
  /** After a move: what still comes of slots up to here may have been told. */
  #filledTo: Slot | null = null;

  /** @param seenMax - signatures that are remembered. */
  constructor(subscription: SubscriptionOf<'logs'>, seenMax: number) {
    this.#subscription = subscription;
    this.#seen = new Seen(seenMax);
  }

  judge(result: Buffer): Verdict {
    const slot = contextSlot(result);
    const signature = signatureOf(result);
    if (slot === null || signature === null) return 'pass';
    // Without a gap a transaction that comes again does so in another slot, after a fork.
    if (this.#filledTo !== null && slot <= this.#filledTo) {
      if (this.#seen.has(signature) || slot <= this.#seen.forgottenTo) return 'drop';
    }
    this.#seen.add(signature, slot);
    this.#told = newer(this.#told, slot);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const { commitment } = this.#subscription;
    const history = commitment === 'finalized' ? commitment : 'confirmed';
    const { from, to } = gapWindow(gap, commitment, this.#told);
    // The new node may be behind the one before: then it tells again what that one told.
    this.#filledTo = newer(newer(this.#filledTo, this.#told), newer(to, gap.from.slot));
    const slots = await gap.reader.slots(from, to, history, gap.signal);
    // What was forgotten lies so far back that nothing can be missing there.
    const open = slots.filter((slot) => slot > this.#seen.forgottenTo);
    await gap.reader.eachBlock(open, gap.signal, async (block) => {
      this.#tellBlock(block, gap);
      await nextTurn(undefined, { signal: gap.signal });
    });
  }

  #tellBlock({ slot, transactions }: Block, gap: Gap): void {
    let told: string | undefined;
    const watchers = new LogsWatchers();
    watchers.add(this.#subscription, {
      notify: (result) => {
        if (told === undefined || this.#seen.has(told)) return;
        this.#seen.add(told, slot);
        gap.tell(result);
      },
      fail: () => {},
    });
    transactions.forEach((executed, index) => {
      told = executed.transaction.signatures[0];
      watchers.tell(new ToldTransaction(slot, index, executed, isSimpleVote(executed.transaction)));
    });
  }
}
