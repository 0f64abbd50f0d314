import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import { contextSlot } from '../slots/context-slot.ts';
import { newer } from './gap/continuity.ts';
import { readRoot } from './gap/root-gap.ts';
import { readSlotInfo } from './slot-info.ts';

/** The newest slot that a notification names; null where its kind names none, or it is something else. */
export function notificationSlot(kind: SubscriptionKind, result: Buffer): Slot | null {
  switch (kind) {
    case 'slot': {
      const info = readSlotInfo(result);
      return info === null ? null : newer(info.slot, info.root);
    }
    case 'root':
      return readRoot(result);
    case 'account':
    case 'program':
    case 'logs':
    case 'signature':
      return contextSlot(result);
    default:
      return null;
  }
}
