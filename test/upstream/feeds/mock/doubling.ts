import { obliging } from './obliging.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Gives every subscription the id of its slots. */
export const doubling: PubsubBehaviour = (request, peer) =>
  request.method === 'slotSubscribe'
    ? obliging(request, peer)
    : peer.send({ jsonrpc: '2.0', result: peer.ids.get('slotSubscribe'), id: request.id });
