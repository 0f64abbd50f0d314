import { AsyncLocalStorage } from 'node:async_hooks';

/** Where a change comes from, for the audit log. */
export type RequestMetadata = Readonly<{
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
}>;

export const noRequestMetadata: RequestMetadata = { address: null, userAgent: null, requestId: null };

/** The request that is being answered, for what the sign-in library writes: it knows no audit log. */
export const currentRequest = new AsyncLocalStorage<RequestMetadata>();
