import { type Behaviour, send } from './server.ts';

/** Response without an id. */
export const noId: Behaviour = (_request, reply) => send(reply, '{"jsonrpc":"2.0","result":"whose?"}');
