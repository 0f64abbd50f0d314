import { healthy } from './healthy.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Gives every subscription the id of its slots. */
export const duplicateIds: PubsubBehaviour = (request, peer) =>
  request.method === 'slotSubscribe'
    ? healthy(request, peer)
    : peer.send({ jsonrpc: '2.0', result: peer.ids.get('slotSubscribe'), id: request.id });
