import type { Subscription } from '../../../protocol/subscriptions.ts';
import { AccountGap } from './account-gap.ts';
import type { Continuity } from './continuity.ts';
import { LogsGap } from './logs-gap.ts';
import { noContinuity } from './no-continuity.ts';
import { ProgramGap } from './program-gap.ts';
import { RootGap } from './root-gap.ts';
import { SignatureGap } from './signature-gap.ts';
import { SlotGap } from './slot-gap.ts';

/** The kinds that are fed by a node's PubSub; the others are made of blocks. */
export type PubsubSubscription = Exclude<Subscription, { kind: 'block' | 'transaction' }>;

/** What keeps a subscription whole across connections. */
export function continuityOf(subscription: PubsubSubscription, seenMax: number): Continuity {
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
      return noContinuity;
  }
}
