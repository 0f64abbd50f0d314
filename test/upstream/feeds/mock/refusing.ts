import { healthy } from './healthy.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Tells its slots and refuses everything else with one error. */
export const refusing =
  (code: number, message: string): PubsubBehaviour =>
  (request, peer) =>
    request.method === 'slotSubscribe' ? healthy(request, peer) : peer.refuse(request, code, message);
