import type { Behaviour } from './server.ts';

/** Whichever node is asked first acts the first way, the next one the second way, and all others the last way. */
export function inTurn(...behaviours: readonly Behaviour[]): Behaviour {
  let asked = 0;
  return (request, reply, socket) => {
    const behaviour = behaviours[Math.min(asked++, behaviours.length - 1)]!;
    behaviour(request, reply, socket);
  };
}
