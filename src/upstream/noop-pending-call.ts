import type { PendingCall } from '../protocol/call.ts';

/** A call that has ended already: there is nothing that could be left. */
export const noopPendingCall: PendingCall = { cancel: () => {} };
