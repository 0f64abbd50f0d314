import { obliging } from './obliging.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Tells its slots, and acknowledges everything else only after a while. */
export const slow =
  (ms: number): PubsubBehaviour =>
  (request, peer) => {
    if (request.method === 'slotSubscribe') obliging(request, peer);
    else setTimeout(() => obliging(request, peer), ms);
  };
