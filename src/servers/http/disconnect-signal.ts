import type { Socket } from 'node:net';

const signal = Symbol('leaving');
type TaggedSocket = Socket & { [signal]?: AbortSignal };

/** Signal aborted when the connection closes. One per connection: a controller per request costs more than authentication. */
export function disconnectSignal(socket: TaggedSocket): AbortSignal {
  const existing = socket[signal];
  if (existing !== undefined) return existing;
  const controller = new AbortController();
  socket[signal] = controller.signal;
  if (socket.destroyed) controller.abort();
  else socket.once('close', () => controller.abort());
  return controller.signal;
}
