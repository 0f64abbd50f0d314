import type { Behaviour } from './server.ts';

/** Whichever node is asked first acts the first way, the next one the second way, and all others the last way. */
export function inSequence(...behaviours: readonly Behaviour[]): Behaviour {
  let requested = 0;
  return (request, reply, socket) => {
    const behaviour = behaviours[Math.min(requested++, behaviours.length - 1)]!;
    behaviour(request, reply, socket);
  };
}
