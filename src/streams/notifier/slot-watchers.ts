import type { WritableJson } from '../../base/json.ts';
import type { FeedListener } from '../feed.ts';
import type { GossipVote, LedgerEvent, SlotStats } from '../ledger-event.ts';
import { resultOf } from './account-notification.ts';

class WatcherSet {
  readonly #watchers = new Set<Readonly<{ listener: FeedListener }>>();

  add(listener: FeedListener): () => void {
    const watcher = { listener };
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0;
  }

  notify(value: WritableJson): void {
    if (this.isEmpty) return;
    const result = resultOf(value);
    for (const { listener } of this.#watchers) listener.onNotification(result, false);
  }
}

const statsJson = (stats: SlotStats): WritableJson => ({
  numTransactionEntries: stats.numTransactionEntries,
  numSuccessfulTransactions: stats.numSuccessfulTransactions,
  numFailedTransactions: stats.numFailedTransactions,
  maxTransactionsPerEntry: stats.maxTransactionsPerEntry,
});

/** @returns null for events without a `slotsUpdates` notification. Source: Agave `SlotUpdate`. */
function slotUpdate(event: LedgerEvent): WritableJson | null {
  switch (event.kind) {
    case 'firstShred':
      return { type: 'firstShredReceived', slot: event.slot, timestamp: event.at };
    case 'completed':
      return { type: 'completed', slot: event.slot, timestamp: event.at };
    case 'created':
      return { type: 'createdBank', slot: event.slot, parent: event.parent, timestamp: event.at };
    case 'frozen':
      return { type: 'frozen', slot: event.slot, timestamp: event.at, stats: statsJson(event.stats) };
    case 'dead':
      return { type: 'dead', slot: event.slot, timestamp: event.at, err: event.err };
    case 'confirmed':
      return { type: 'optimisticConfirmation', slot: event.slot, timestamp: event.at };
    case 'rooted':
      return { type: 'root', slot: event.slot, timestamp: event.at };
    default:
      return null;
  }
}

/** Source: Agave rpc-client-types/src/response.rs, `RpcVote`. */
const voteJson = ({ votePubkey, slots, hash, timestamp, signature }: GossipVote): WritableJson => ({
  votePubkey,
  slots,
  hash,
  timestamp,
  signature,
});

export class SlotWatchers {
  readonly slot = new WatcherSet();
  readonly slotsUpdates = new WatcherSet();
  readonly root = new WatcherSet();
  readonly vote = new WatcherSet();

  notify(event: LedgerEvent): void {
    if (event.kind === 'created') {
      this.slot.notify({ slot: event.slot, parent: event.parent, root: event.root });
    }
    if (!this.slotsUpdates.isEmpty) {
      const update = slotUpdate(event);
      if (update !== null) this.slotsUpdates.notify(update);
    }
    if (event.kind === 'rooted') this.root.notify(event.slot);
    if (event.kind === 'vote') this.vote.notify(voteJson(event.vote));
  }
}
