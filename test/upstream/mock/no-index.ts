import { type Behaviour, sendError } from './server.ts';
import { type Told, telling } from './telling.ts';

/** Finds no accounts by their owners. */
export const noIndex =
  (told: Told): Behaviour =>
  (request, reply, socket) => {
    if (request.method !== 'getTokenAccountsByOwner') telling(told)(request, reply, socket);
    else sendError(reply, request.id, -32010, 'excluded from account secondary indexes; unavailable for key');
  };
