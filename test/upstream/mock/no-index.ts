import { type ReportedState, reporting } from './reporting.ts';
import { type Behaviour, sendError } from './server.ts';

/** Has no account index. */
export const noIndex =
  (reported: ReportedState): Behaviour =>
  (request, reply, socket) => {
    if (request.method !== 'getTokenAccountsByOwner') reporting(reported)(request, reply, socket);
    else sendError(reply, request.id, -32010, 'excluded from account secondary indexes; unavailable for key');
  };
