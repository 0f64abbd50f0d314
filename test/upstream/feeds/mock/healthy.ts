import type { PubsubBehaviour } from './pubsub-server.ts';

/** Takes every subscription and says yes to every end of one. */
export const healthy: PubsubBehaviour = (request, peer) => {
  if (request.method.endsWith('Unsubscribe')) peer.send({ jsonrpc: '2.0', result: true, id: request.id });
  else peer.acknowledge(request);
};
