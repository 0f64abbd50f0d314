import { type Behaviour, send } from './server.ts';

/** HTTP says all is well, the JSON ends in the middle. */
export const truncated: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","id":${id},"result":{"value":{"lamports":1}`);
