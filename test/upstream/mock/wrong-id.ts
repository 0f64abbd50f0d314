import { type Behaviour, send } from './server.ts';

/** Response to another id. */
export const wrongId: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","result":"not yours","id":${id + 1}}\n`);
