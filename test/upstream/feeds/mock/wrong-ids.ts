import { healthy } from './healthy.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Acknowledges what nobody asked for: the answers carry another id than the request. */
export const wrongIds: PubsubBehaviour = (request, peer) =>
  request.method === 'slotSubscribe'
    ? healthy(request, peer)
    : peer.send({ jsonrpc: '2.0', result: 7, id: request.id + 1_000_000 });
