import { healthy } from './healthy.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Tells its slots, and acknowledges everything else only after a while. */
export const slow =
  (ms: number): PubsubBehaviour =>
  (request, peer) => {
    if (request.method === 'slotSubscribe') healthy(request, peer);
    else setTimeout(() => healthy(request, peer), ms);
  };
