import type { Behaviour } from './server.ts';

/** Promises a long answer, sends a piece, then drops the connection. */
export const dyingMidBody: Behaviour = ({ id }, reply, socket) => {
  reply.writeHead(200, { 'content-type': 'application/json', 'content-length': '4096' });
  reply.write(`{"jsonrpc":"2.0","result":{"half":"${id}`, () => socket.destroy());
};
