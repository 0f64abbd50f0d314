import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeJson } from '../../../base/json.ts';
import type { Subscription, SubscriptionOf } from '../../../protocol/subscriptions.ts';
import type { Block } from '../../../solana/block.ts';
import { isSimpleVote } from '../../../solana/transaction/simple-vote.ts';
import { type Slot, slot as slotOf } from '../../../solana/units.ts';
import { LogsWatchers } from '../../../streams/notifier/logs-watchers.ts';
import { TransactionNotification } from '../../../streams/notifier/transaction-notification.ts';
import { contextSlot } from '../../slots/context-slot.ts';
import { readSlotInfo, type SlotInfo, slotInfoJson } from '../pubsub-message.ts';
import { readSignatureStatuses } from '../signature-statuses.ts';
import { AccountGap, ProgramGap } from './account-gap.ts';
import {
  contextValue,
  type Gap,
  type GapRecovery,
  gapWindow,
  type NotificationDecision,
  newer,
  SeenSlots,
  valueString,
  withContext,
} from './gap-recovery.ts';

const DIGITS = /^\d{1,20}$/;

export function readRoot(result: Buffer): Slot | null {
  const text = result.toString('latin1');
  return DIGITS.test(text) ? slotOf(BigInt(text)) : null;
}

/** `root`: emits every missed finalized block in order. Roots only grow. */
class RootGap implements GapRecovery {
  #last: Slot | null = null;

  decide(result: Buffer): NotificationDecision {
    const root = readRoot(result);
    if (root === null || (this.#last !== null && root <= this.#last)) return 'drop';
    this.#last = root;
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const window = gapWindow(gap, 'finalized', this.#last);
    const live = gap
      .buffered()
      .map(readRoot)
      .find((root) => root !== null);
    const to = live === undefined || live <= window.to ? window.to : slotOf(live - 1n);
    for (const root of await gap.reader.slots(window.from, to, 'finalized', gap.signal)) {
      if (root <= (this.#last ?? gap.opened.root) || (live !== undefined && root >= live)) continue;
      this.#last = root;
      gap.emit(Buffer.from(String(root)));
    }
  }
}

/**
 * `slot`: emits every missed slot with a confirmed block, in order; its parent is the previous block.
 * Abandoned slots are not recovered. `root` is estimated, as history does not contain it.
 */
export class SlotGap implements GapRecovery {
  readonly #seenSlots: SeenSlots;
  #last: SlotInfo | null = null;
  /** After a move, slots up to this one are dropped: the new node may be behind. */
  #movedAt: Slot | null = null;

  constructor(seenMax: number) {
    this.#seenSlots = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const info = readSlotInfo(result);
    if (info === null) return 'drop';
    if (this.#seenSlots.has(String(info.slot)) || info.slot <= (this.#movedAt ?? -1n)) return 'drop';
    this.#record(info);
    return 'pass';
  }

  async fill(gap: Gap): Promise<void> {
    const window = gapWindow(gap, 'processed', null);
    this.#movedAt = this.#last?.slot ?? null;
    const chain = await gap.reader.slots(window.from, window.to, 'confirmed', gap.signal);
    const live =
      gap
        .buffered()
        .map(readSlotInfo)
        .find((info) => info !== null)?.slot ?? gap.to.slot;
    chain.forEach((slot, at) => {
      const parent = chain[at - 1];
      // Without a parent in the list, the slot lies in the margin and was emitted.
      if (parent === undefined || slot <= (this.#last?.slot ?? gap.opened.slot) || slot >= live) return;
      if (this.#seenSlots.has(String(slot))) return;
      const info = { slot, parent, root: this.#rootAt(slot, chain, gap) };
      this.#record(info);
      gap.emit(slotInfoJson(info));
    });
  }

  #record(info: SlotInfo): void {
    this.#seenSlots.add(String(info.slot), info.slot);
    if (this.#last === null || info.slot > this.#last.slot) this.#last = info;
  }

  /** Assumes that roots advance with slots; bounded by the last emitted and the live root. */
  #rootAt(slot: Slot, chain: readonly Slot[], { opened, to }: Gap): Slot {
    const last = this.#last ?? opened;
    const maxRoot = last.root + (slot - last.slot);
    const candidates = chain.filter((one) => one > last.root && one <= maxRoot && one <= to.root);
    return candidates.at(-1) ?? last.root;
  }
}

const signatureOf = valueString('signature');

/**
 * `logs`: emits each matching transaction of the gap's blocks once, in order, from confirmed or finalized
 * blocks. Transactions are identified by signature.
 */
export class LogsGap implements GapRecovery {
  readonly #subscription: SubscriptionOf<'logs'>;
  readonly #seenSignatures: SeenSlots;
  #newestSlot: Slot | null = null;
  /** After a move, notifications up to this slot may be duplicates. */
  #filledTo: Slot | null = null;

  constructor(subscription: SubscriptionOf<'logs'>, seenMax: number) {
    this.#subscription = subscription;
    this.#seenSignatures = new SeenSlots(seenMax);
  }

  decide(result: Buffer): NotificationDecision {
    const slot = contextSlot(result);
    const signature = signatureOf(result);
    if (slot === null || signature === null) return 'pass';
    // Without a gap, a repeated signature comes from another slot after a fork.
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
    // The new node may be behind and repeat notifications.
    this.#filledTo = newer(newer(this.#filledTo, this.#newestSlot), newer(to, gap.from.slot));
    const slots = await gap.reader.slots(from, to, history, gap.signal);
    // Evicted entries precede everything that may be missing.
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

/** `signature`: reads the status again; the result is emitted once. */
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
    // Statuses have the processed slot; nodes report the slot of the commitment.
    const commitmentSlot = commitment === 'processed' ? slot : await gap.reader.slot(commitment);
    this.#isDone = true;
    gap.emit(withContext(commitmentSlot, writeJson({ err: status.err })), true);
  }
}

/** `slotsUpdates` and `vote` cannot be recovered (protocol/subscriptions.ts, column `gap`). */
const noRecovery: GapRecovery = {
  decide: () => 'pass',
  fill: () => Promise.resolve(),
};

/** Kinds that PubSub feeds; the others are fed from blocks. */
export type PubsubSubscription = Exclude<Subscription, { kind: 'block' | 'transaction' }>;

export function createGapRecovery(subscription: PubsubSubscription, seenMax: number): GapRecovery {
  switch (subscription.kind) {
    case 'account':
      return new AccountGap(subscription);
    case 'program':
      return new ProgramGap(subscription, seenMax);
    case 'logs':
      return new LogsGap(subscription, seenMax);
    case 'signature':
      return new SignatureGap(subscription);
    case 'slot':
      return new SlotGap(seenMax);
    case 'root':
      return new RootGap();
    case 'slotsUpdates':
    case 'vote':
      return noRecovery;
  }
}
