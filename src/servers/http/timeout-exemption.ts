import type { IncomingMessage } from 'node:http';

const exemptRequests = new WeakSet<IncomingMessage>();

/** Exempts a request from the body timeout, up to `ownTimeMaxMs`; its reader enforces progress itself. For uploads. */
export function exemptFromTimeout(request: IncomingMessage): void {
  exemptRequests.add(request);
}

export const isExemptFromTimeout = (request: IncomingMessage): boolean => exemptRequests.has(request);
