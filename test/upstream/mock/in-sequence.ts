import type { Behaviour } from './server.ts';

/** Behaviors in the order in which nodes are first called; the last repeats. */
export function inSequence(...behaviours: readonly Behaviour[]): Behaviour {
  let requested = 0;
  return (request, reply, socket) => {
    const behaviour = behaviours[Math.min(requested++, behaviours.length - 1)]!;
    behaviour(request, reply, socket);
  };
}
