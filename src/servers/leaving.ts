import type { Socket } from 'node:net';

const signal = Symbol('leaving');
type Known = Socket & { [signal]?: AbortSignal };

/**
 * Aborted when the client's connection closes, with all that is on its way for it. One signal per connection: a
 * controller for each request costs more than all of its authentication.
 */
export function leavingSignal(socket: Known): AbortSignal {
  const held = socket[signal];
  if (held !== undefined) return held;
  const controller = new AbortController();
  socket[signal] = controller.signal;
  if (socket.destroyed) controller.abort();
  else socket.once('close', () => controller.abort());
  return controller.signal;
}
