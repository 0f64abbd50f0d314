import type { Behaviour } from './server.ts';

/** Closes the connection within a large response. */
export const dyingMidBody: Behaviour = ({ id }, reply, socket) => {
  reply.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
  reply.write(`{"jsonrpc":"2.0","result":{"half":"${id}`, () => socket.destroy());
};
