import { type Behaviour, sendError } from './server.ts';
import { type Told, telling } from './telling.ts';

/** Knows how things are, and not how they came to be. */
export const noHistory =
  (told: Told): Behaviour =>
  (request, reply, socket) => {
    if (request.method !== 'getTransaction') telling(told)(request, reply, socket);
    else sendError(reply, request.id, -32011, 'Transaction history is not available from this node');
  };
