import { type Behaviour, send } from './server.ts';

/** HTTP 200 with truncated JSON. */
export const truncated: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","id":${id},"result":{"value":{"lamports":1}`);
