import type { Socket } from 'node:net';

const signal = Symbol('leaving');
type TaggedSocket = Socket & { [signal]?: AbortSignal };

/**
 * Aborted when the client's connection closes, with all that is on its way for it. One signal per connection: a
 * controller for each request costs more than all of its authentication.
 */
export function disconnectSignal(socket: TaggedSocket): AbortSignal {
  const existing = socket[signal];
  if (existing !== undefined) return existing;
  const controller = new AbortController();
  socket[signal] = controller.signal;
  if (socket.destroyed) controller.abort();
  else socket.once('close', () => controller.abort());
  return controller.signal;
}
