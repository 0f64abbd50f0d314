import type { Behaviour } from './server.ts';

/** Acts as it is told to, so much later. What nobody waits for any more is never done. */
export const slow =
  (ms: number, behaviour: Behaviour): Behaviour =>
  (request, reply, socket) => {
    const timer = setTimeout(() => behaviour(request, reply, socket), ms);
    socket.once('close', () => clearTimeout(timer));
  };
