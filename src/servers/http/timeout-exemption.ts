import type { IncomingMessage } from 'node:http';

const exemptRequests = new WeakSet<IncomingMessage>();

/**
 * Takes a request out of the time that bodies have to arrive: whoever reads this one watches over it himself, up to
 * `ownTimeMaxMs` of the listener. For bodies that may take long as long as they come on, of callers who are known.
 */
export function exemptFromTimeout(request: IncomingMessage): void {
  exemptRequests.add(request);
}

export const isExemptFromTimeout = (request: IncomingMessage): boolean => exemptRequests.has(request);
