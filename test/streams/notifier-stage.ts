import type { Commitment } from '../../src/protocol/commitment.ts';
import type { Subscription, SubscriptionOf, TransactionFilter } from '../../src/protocol/subscriptions.ts';
import { LedgerNotifier, type LedgerNotifierOptions } from '../../src/streams/ledger-notifier.ts';
import { block, executed, key, LedgerScript, NotificationRecorder, signature } from './ledger-script.ts';

export const accountOf = (n: number, commitment: Commitment): Subscription => ({
  kind: 'account',
  address: key(n),
  commitment,
  encoding: 'base64',
});

export const logs = (commitment: Commitment): Subscription => ({ kind: 'logs', of: 'all', commitment });

/** A subscription to all blocks, with their signatures. */
export const blocks = (
  commitment: 'confirmed' | 'finalized',
  changes: Partial<SubscriptionOf<'block'>> = {},
): Subscription => ({
  kind: 'block',
  mentions: null,
  commitment,
  encoding: 'base64',
  details: 'signatures',
  rewards: false,
  maxVersion: undefined,
  ...changes,
});

/** A filter that matches every transaction. */
export const anyTransaction: TransactionFilter = {
  vote: null,
  failed: null,
  signature: null,
  include: [],
  exclude: [],
  required: [],
  tokenAccounts: 'none',
};

export const signatureOf = (n: number, commitment: Commitment, received = false): Subscription => ({
  kind: 'signature',
  signature: signature(n),
  commitment,
  received,
});

export function stage(options: Partial<LedgerNotifierOptions> = {}) {
  const notifier = new LedgerNotifier(options);
  const subscribe = (subscription: Subscription): NotificationRecorder => {
    const recorder = new NotificationRecorder();
    notifier.add(subscription, recorder);
    return recorder;
  };
  return { notifier, script: new LedgerScript(notifier), subscribe };
}

/** Emits a slot that writes account 1 and runs transaction `n`, without its `processed` event. */
export function play(script: LedgerScript, at: number, parent = at - 1, n = at): void {
  script.created(at, parent);
  script.account(at, 1, {});
  script.transaction(at, { n });
  script.frozen(at);
  script.block(block(at, [executed({ n })], parent));
}
