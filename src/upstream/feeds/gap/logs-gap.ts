import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeJson } from '../../../base/json.ts';
import type { SubscriptionOf } from '../../../protocol/subscriptions.ts';
import type { Block } from '../../../solana/block.ts';
import { isSimpleVote } from '../../../solana/transaction/simple-vote.ts';
import type { Slot } from '../../../solana/units.ts';
import { LogsWatchers } from '../../../streams/notifier/logs-watchers.ts';
import { TransactionNotification } from '../../../streams/notifier/transaction-notification.ts';
import { contextSlot } from '../../slots/context-slot.ts';
import { newer } from '../../slots/newest-slot.ts';
import { historyOf } from '../chain-reader.ts';
import { readSignatureStatuses } from '../signature-statuses.ts';
import {
  contextValue,
  type Gap,
  type GapRecovery,
  gapWindow,
  type NotificationDecision,
  SeenSlots,
  valueString,
  withContext,
} from './gap-recovery.ts';

const signatureOf = valueString('signature');

/** For `logs` subscriptions: emits each matching transaction from the blocks in the gap once, in order. */
export class LogsGap implements GapRecovery {
  readonly #subscription: SubscriptionOf<'logs'>;
  readonly #seenSignatures: SeenSlots;
  #newestSlot: Slot | null = null;
  /** After a failover, notifications up to this slot may be duplicates. */
  #filledTo: Slot | null = null;

  constructor(subscription: SubscriptionOf<'logs'>, seenMax: number) {
    this.#subscription = subscription;
    this.#seenSignatures = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const slot = contextSlot(result);
    const signature = signatureOf(result);
    if (slot === null || signature === null) return 'pass';
    const seenSlot = this.#seenSignatures.get(signature);
    // Leaders may send the logs of a transaction many times, at `confirmed` also for later slots.
    const isRepeated =
      this.#subscription.commitment === 'processed' ? seenSlot === slot : seenSlot !== undefined;
    if (isRepeated) return 'drop';
    // If no gap was filled, a repeated signature is from another fork and not a duplicate.
    if (this.#filledTo !== null && slot <= this.#filledTo) {
      if (this.#seenSignatures.has(signature) || slot <= this.#seenSignatures.evictedUpTo) return 'drop';
    }
    this.#seenSignatures.add(signature, slot);
    this.#newestSlot = newer(this.#newestSlot, slot);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const { commitment } = this.#subscription;
    const { from, to } = gapWindow(gap, commitment, this.#newestSlot);
    // The new node may be behind and repeat notifications.
    this.#filledTo = newer(newer(this.#filledTo, this.#newestSlot), newer(to, gap.from.slot));
    const slots = await gap.reader.slots(from, to, historyOf(commitment), gap.signal);
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

const RECEIVED = '"receivedSignature"';

/** For `signature` subscriptions: reads the status from a node and emits the result once. */
export class SignatureGap implements GapRecovery {
  readonly #subscription: SubscriptionOf<'signature'>;
  #isReceiptSent = false;
  #isDone = false;

  constructor(subscription: SubscriptionOf<'signature'>) {
    this.#subscription = subscription;
  }

  decide(result: Buffer): NotificationDecision {
    if (this.#isDone) return 'drop';
    if (contextValue(result).toString('latin1') === RECEIVED) {
      if (this.#isReceiptSent) return 'drop';
      this.#isReceiptSent = true;
      return 'pass';
    }
    this.#isDone = true;
    return 'last';
  }

  async fill(gap: Gap): Promise<void> {
    const { signature, commitment, received } = this.#subscription;
    const params = [[signature], { searchTransactionHistory: true }];
    const body = await gap.reader.request('getSignatureStatuses', params, gap.signal);
    const { slot, statuses } = readSignatureStatuses(body);
    const status = statuses[0] ?? null;
    if (status === null || this.#isDone) return;
    if (received && !this.#isReceiptSent) {
      this.#isReceiptSent = true;
      gap.emit(withContext(slot, RECEIVED));
    }
    if (!status.hasCommitment(commitment)) return;
    // The status response contains the processed slot, but notifications contain the slot of their commitment.
    const commitmentSlot = commitment === 'processed' ? slot : await gap.reader.slot(commitment);
    this.#isDone = true;
    gap.emit(withContext(commitmentSlot, writeJson({ err: status.err })), true);
  }
}
