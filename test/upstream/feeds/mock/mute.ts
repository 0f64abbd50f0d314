import { obliging } from './obliging.ts';
import type { PubsubBehaviour } from './pubsub-server.ts';

/** Tells its slots and never acknowledges anything else. */
export const mute: PubsubBehaviour = (request, peer) => {
  if (request.method === 'slotSubscribe') obliging(request, peer);
};
