import { type Behaviour, send } from './server.ts';

/** Nothing at all, with HTTP 200. */
export const empty: Behaviour = (_request, reply) => send(reply, '');
