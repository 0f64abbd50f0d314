import { healthy } from './healthy.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Sends what is no JSON in place of an acknowledgement. */
export const invalidJson: PubsubBehaviour = (request, peer) =>
  request.method === 'slotSubscribe' ? healthy(request, peer) : peer.send('{"jsonrpc":"2.0","result":');
