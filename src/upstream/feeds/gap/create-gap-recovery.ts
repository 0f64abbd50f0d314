import type { PubsubSubscription } from '../pubsub-message.ts';
import { AccountGap, ProgramGap } from './account-gap.ts';
import type { GapRecovery } from './gap-recovery.ts';
import { LogsGap, SignatureGap } from './logs-gap.ts';
import { RootGap, SlotGap } from './slot-gap.ts';

/** `slotsUpdates` and `vote` cannot be recovered: see the `gap` column in protocol/subscriptions.ts. */
const noRecovery: GapRecovery = { decide: () => 'pass', fill: () => Promise.resolve() };

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
