import { type Behaviour, send } from './server.ts';

/** HTTP 200 with an empty body. */
export const empty: Behaviour = (_request, reply) => send(reply, '');
