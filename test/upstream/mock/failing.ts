import { type Behaviour, sendError } from './server.ts';

/** Responds with one JSON-RPC error. */
export const failing =
  (code: number, message = 'no', data?: unknown): Behaviour =>
  ({ id }, reply) =>
    sendError(reply, id, code, message, data);
