import { type Behaviour, send } from './server.ts';

/** HTTP error with an HTML page. */
export const refusing =
  (status: number): Behaviour =>
  (_request, reply) =>
    send(reply, '<h1>no</h1>', status);
