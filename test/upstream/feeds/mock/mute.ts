import { healthy } from './healthy.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Tells its slots and never acknowledges anything else. */
export const mute: PubsubBehaviour = (request, peer) => {
  if (request.method === 'slotSubscribe') healthy(request, peer);
};
