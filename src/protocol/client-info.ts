import type { ClientInfo } from './request-handler.ts';

/** A client whose connection closed before its address was read. */
export const unknownClient: ClientInfo = { address: '', ip: null, isProxy: false, origin: null };
