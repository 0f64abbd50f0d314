import { type Behaviour, send } from './server.ts';

/** The answer to another request. */
export const wrongId: Behaviour = ({ id }, reply) =>
  send(reply, `{"jsonrpc":"2.0","result":"not yours","id":${id + 1}}\n`);
