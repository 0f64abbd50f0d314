import { type Behaviour, send } from './server.ts';

/** Answers everything with an HTTP status and a page for people. */
export const refusing =
  (status: number): Behaviour =>
  (_request, reply) =>
    send(reply, '<h1>no</h1>', status);
