import type { Continuity } from './continuity.ts';

/**
 * `slotsUpdates` and `vote`: nothing but the moment tells them, so what is missed is lost
 * (protocol/subscriptions.ts, column `gap`).
 */
export const noContinuity: Continuity = {
  decide: () => 'pass',
  fill: () => Promise.resolve(),
};
