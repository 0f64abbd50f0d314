import type { Logger } from '../../base/log.ts';
import type { AccountLookup } from '../../solana/parsed/account/parsed-account.ts';
import type { Slot } from '../../solana/units.ts';
import { LedgerNotifier } from '../../streams/ledger-notifier.ts';
import type { OpenLocalNode } from '../genesis/open.ts';
import type { Bank } from '../node.ts';
import { mintsOf } from '../rpc/account-view.ts';

/** The oldest readable state that has a slot: told slots are the tips of the three commitments. */
function bankWith(node: OpenLocalNode, slot: Slot): Bank {
  for (const commitment of ['finalized', 'confirmed'] as const) {
    const bank = node.bank(commitment);
    if (bank.slot >= slot) return bank;
  }
  return node.bank('processed');
}

/** Mints as a slot has them; looked up anew for each slot. */
function lookupOf(node: OpenLocalNode): (slot: Slot) => AccountLookup {
  let last: Readonly<{ bank: Bank; lookup: AccountLookup }> | null = null;
  return (slot) => {
    const bank = bankWith(node, slot);
    if (last?.bank !== bank) last = { bank, lookup: mintsOf(bank) };
    return last.lookup;
  };
}

/**
 * Lets the ledger's events notify subscriptions. A fault of a notification is logged, and does not stop the
 * ledger.
 */
export function followLedger(
  node: OpenLocalNode,
  log: Logger,
): Readonly<{ notifier: LedgerNotifier; stop: () => void }> {
  const notifier = new LedgerNotifier({
    lookup: lookupOf(node),
    statusOf: (signature) => node.recentStatus(signature),
    // A subscription also hears of slots that had begun, or were not rooted, when it came.
    retainUnsubscribed: true,
    onEvicted: (slot, failed) =>
      log.warn({ slot: Number(slot), failed }, 'more waits to be told of the ledger than is held'),
  });
  const stop = node.follow((event) => {
    try {
      notifier.emit(event);
    } catch (error) {
      log.error({ err: error, event: event.kind }, 'an event of the ledger could not be told');
    }
  });
  return { notifier, stop };
}
