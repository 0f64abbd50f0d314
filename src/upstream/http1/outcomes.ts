import type { Exchange } from '../exchange.ts';

/** What requests come to that say nothing of their own: made once. */

export const abandoned = (bytesLeft: boolean): Exchange => (bytesLeft ? ABANDONED_SENT : ABANDONED_UNSENT);

/** @param bytesLeft - whether the node may have read the request. */
export const late = (bytesLeft: boolean): Exchange => (bytesLeft ? LATE_SENT : LATE_UNSENT);

export const tooLarge: Exchange = { kind: 'too-large' };
export const noRoom: Exchange = { kind: 'no-room' };

export const lost = (bytesLeft: boolean, cause: unknown): Exchange => ({
  kind: 'transport',
  bytesLeft,
  timedOut: false,
  cause,
});

const ABANDONED_SENT: Exchange = { kind: 'aborted', bytesLeft: true };
const ABANDONED_UNSENT: Exchange = { kind: 'aborted', bytesLeft: false };
const LATE_SENT: Exchange = { kind: 'transport', bytesLeft: true, timedOut: true, cause: null };
const LATE_UNSENT: Exchange = { kind: 'transport', bytesLeft: false, timedOut: true, cause: null };
