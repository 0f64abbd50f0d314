import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import type { Block } from '../../../solana/block.ts';
import { isSimpleVote } from '../../../solana/transaction/simple-vote.ts';
import type { Slot } from '../../../solana/units.ts';
import { LogsWatchers } from '../../../streams/notifier/logs-watchers.ts';
import { TransactionNotification } from '../../../streams/notifier/transaction-notification.ts';
import { contextSlot } from '../../slots/context-slot.ts';
import { contextValue, rawMembers } from './context.ts';
import { type Continuity, type Gap, gapWindow, type NotificationDecision, newer } from './continuity.ts';
import { SeenSlots } from './seen-slots.ts';

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
  readonly #seenSignatures: SeenSlots;
  /** The newest slot of which a connection told. */
  #newestSlot: Slot | null = null;
  /** After a move: what still comes of slots up to here may have been told. */
  #filledTo: Slot | null = null;

  /** @param seenMax - signatures that are remembered. */
  constructor(subscription: SubscriptionOf<'logs'>, seenMax: number) {
    this.#subscription = subscription;
    this.#seenSignatures = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const slot = contextSlot(result);
    const signature = signatureOf(result);
    if (slot === null || signature === null) return 'pass';
    // Without a gap a transaction that comes again does so in another slot, after a fork.
    if (this.#filledTo !== null && slot <= this.#filledTo) {
      if (this.#seenSignatures.has(signature) || slot <= this.#seenSignatures.evictedUpTo) return 'drop';
    }
    this.#seenSignatures.add(signature, slot);
    this.#newestSlot = newer(this.#newestSlot, slot);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const { commitment } = this.#subscription;
    const history = commitment === 'finalized' ? commitment : 'confirmed';
    const { from, to } = gapWindow(gap, commitment, this.#newestSlot);
    // The new node may be behind the one before: then it tells again what that one told.
    this.#filledTo = newer(newer(this.#filledTo, this.#newestSlot), newer(to, gap.from.slot));
    const slots = await gap.reader.slots(from, to, history, gap.signal);
    // What was forgotten lies so far back that nothing can be missing there.
    const open = slots.filter((slot) => slot > this.#seenSignatures.evictedUpTo);
    await gap.reader.eachBlock(open, gap.signal, async (block) => {
      this.#emitBlock(block, gap);
      await nextTurn(undefined, { signal: gap.signal });
    });
  }

  #emitBlock({ slot, transactions }: Block, gap: Gap): void {
    let signature: string | undefined;
    const watchers = new LogsWatchers();
    watchers.add(this.#subscription, {
      onNotification: (result) => {
        if (signature === undefined || this.#seenSignatures.has(signature)) return;
        this.#seenSignatures.add(signature, slot);
        gap.emit(result);
      },
      onError: () => {},
    });
    transactions.forEach((executed, index) => {
      signature = executed.transaction.signatures[0];
      watchers.notify(new TransactionNotification(slot, index, executed, isSimpleVote(executed.transaction)));
    });
  }
}
