import { type Behaviour, send } from './server.ts';

/** An answer that names no request. */
export const noId: Behaviour = (_request, reply) => send(reply, '{"jsonrpc":"2.0","result":"whose?"}');
