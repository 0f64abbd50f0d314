import type { Behaviour } from './server.ts';

/** Reads the request and closes the connection. */
export const dyingAfterRequest: Behaviour = (_request, _reply, socket) => {
  socket.destroy();
};
