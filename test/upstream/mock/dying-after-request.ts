import type { Behaviour } from './server.ts';

/** Reads the whole request, then drops the connection. */
export const dyingAfterRequest: Behaviour = (_request, _reply, socket) => {
  socket.destroy();
};
