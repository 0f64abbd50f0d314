import type { Subscription } from '../../../protocol/subscriptions.ts';
import { AccountGap, ProgramGap } from './account-gap.ts';
import type { Continuity } from './continuity.ts';
import { LogsGap, SignatureGap } from './logs-gap.ts';
import { RootGap, SlotGap } from './slot-gap.ts';

/**
 * `slotsUpdates` and `vote`: nothing but the moment tells them, so what is missed is lost
 * (protocol/subscriptions.ts, column `gap`).
 */
const noContinuity: Continuity = {
  decide: () => 'pass',
  fill: () => Promise.resolve(),
};

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
