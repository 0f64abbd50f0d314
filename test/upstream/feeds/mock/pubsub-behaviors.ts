import type { PubsubBehaviour } from './pubsub-server.ts';

/** How mock PubSub nodes respond. */

export const healthy: PubsubBehaviour = (request, peer) => {
  if (request.method.endsWith('Unsubscribe')) peer.send({ jsonrpc: '2.0', result: true, id: request.id });
  else peer.acknowledge(request);
};

export const closing: PubsubBehaviour = (_request, peer) => peer.socket.close();

/** Accepts slot subscriptions; handles other requests with the given behavior. */
const exceptSlots =
  (behaviour: PubsubBehaviour): PubsubBehaviour =>
  (request, peer) =>
    (request.method === 'slotSubscribe' ? healthy : behaviour)(request, peer);

export const mute = exceptSlots(() => {});

export const refusing = (code: number, message: string): PubsubBehaviour =>
  exceptSlots((request, peer) => peer.refuse(request, code, message));

/** Responds with the id of the slot subscription. */
export const duplicateIds = exceptSlots((request, peer) =>
  peer.send({ jsonrpc: '2.0', result: peer.ids.get('slotSubscribe'), id: request.id }),
);

export const invalidJson = exceptSlots((_request, peer) => peer.send('{"jsonrpc":"2.0","result":'));

export const wrongIds = exceptSlots((request, peer) =>
  peer.send({ jsonrpc: '2.0', result: 7, id: request.id + 1_000_000 }),
);
