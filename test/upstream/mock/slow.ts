import type { Behaviour } from './server.ts';

/** Delayed behavior; dropped if the client disconnects. */
export const slow =
  (ms: number, behaviour: Behaviour): Behaviour =>
  (request, reply, socket) => {
    const timer = setTimeout(() => behaviour(request, reply, socket), ms);
    socket.once('close', () => clearTimeout(timer));
  };
