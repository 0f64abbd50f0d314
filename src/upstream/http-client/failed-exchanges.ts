import type { Exchange } from '../exchange.ts';

/** What requests come to that say nothing of their own: made once. */

export const aborted = (wasSent: boolean): Exchange => (wasSent ? ABORTED_SENT : ABORTED_UNSENT);

/** @param bytesLeft - whether the node may have read the request. */
export const timeoutExchange = (wasSent: boolean): Exchange => (wasSent ? TIMEOUT_SENT : TIMEOUT_UNSENT);

export const tooLarge: Exchange = { kind: 'too-large' };
export const overBudget: Exchange = { kind: 'no-room' };

export const connectionLost = (wasSent: boolean, cause: unknown): Exchange => ({
  kind: 'transport',
  wasSent,
  timedOut: false,
  cause,
});

const ABORTED_SENT: Exchange = { kind: 'aborted', wasSent: true };
const ABORTED_UNSENT: Exchange = { kind: 'aborted', wasSent: false };
const TIMEOUT_SENT: Exchange = { kind: 'transport', wasSent: true, timedOut: true, cause: null };
const TIMEOUT_UNSENT: Exchange = { kind: 'transport', wasSent: false, timedOut: true, cause: null };
