import type { PubsubBehaviour } from './pubsub-server.ts';

/** Closes the connection at the first word. */
export const closing: PubsubBehaviour = (_request, peer) => peer.socket.close();
