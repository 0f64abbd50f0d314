import type { IncomingMessage } from 'node:http';

const own = new WeakSet<IncomingMessage>();

/**
 * Takes a request out of the time that bodies have to arrive: whoever reads this one watches over it himself, up to
 * `ownTimeMaxMs` of the listener. For bodies that may take long as long as they come on, of callers who are known.
 */
export function keepOwnTime(request: IncomingMessage): void {
  own.add(request);
}

export const keepsOwnTime = (request: IncomingMessage): boolean => own.has(request);
