import { obliging } from './obliging.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Sends what is no JSON in place of an acknowledgement. */
export const babbling: PubsubBehaviour = (request, peer) =>
  request.method === 'slotSubscribe' ? obliging(request, peer) : peer.send('{"jsonrpc":"2.0","result":');
