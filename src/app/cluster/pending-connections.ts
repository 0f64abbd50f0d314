import type { ChildProcess } from 'node:child_process';

/** A connection as the runtime hands it over. */
type Handle = Readonly<{ close: () => void }>;

/** Members of the internal messages that Node.js sends between primary and worker. */
type ClusterMessage = Readonly<{ act?: unknown; seq?: unknown; ack?: unknown }>;

const isMessage = (value: unknown): value is ClusterMessage => typeof value === 'object' && value !== null;

/** The call with which a connection is sent. */
type Send = (message: unknown, handle?: unknown, ...more: unknown[]) => boolean;

/**
 * Ends connections that were being handed to a worker when it died. Node.js keeps its own end of a connection until the
 * worker says that it has taken it, and forgets about it when the worker dies before: the client would wait for ever for
 * an answer that nobody gives. There is no call for it, so that its messages are listened to (lib/internal/cluster).
 */
export function closePendingConnections(worker: ChildProcess): void {
  const pending = new Map<unknown, Handle>();
  const send = worker.send.bind(worker) as Send;
  const sendAndTrack: Send = (message, handle, ...more) => {
    if (isMessage(message) && message.act === 'newconn') pending.set(message.seq, handle as Handle);
    return send(message, handle, ...more);
  };
  Object.assign(worker, { send: sendAndTrack });
  worker.on('internalMessage', (message: unknown) => {
    if (isMessage(message)) pending.delete(message.ack);
  });
  worker.once('exit', () => {
    for (const handle of pending.values()) handle.close();
    pending.clear();
  });
}
