import { type Behaviour, send } from './server.ts';

/** Responds with the raw result; getSlot with a slot. */
export const healthy =
  (result = '"ok"', slot = 1_000n): Behaviour =>
  ({ id, method }, reply) =>
    send(reply, `{"jsonrpc":"2.0","result":${method === 'getSlot' ? slot : result},"id":${id}}\n`);
