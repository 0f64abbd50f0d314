import { type ReportedState, reporting } from './reporting.ts';
import { type Behaviour, sendError } from './server.ts';

/** Has state but no history. */
export const noHistory =
  (reported: ReportedState): Behaviour =>
  (request, reply, socket) => {
    if (request.method !== 'getTransaction') reporting(reported)(request, reply, socket);
    else sendError(reply, request.id, -32011, 'Transaction history is not available from this node');
  };
