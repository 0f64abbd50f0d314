import type { ChildProcess } from 'node:child_process';

type Handle = Readonly<{ close: () => void }>;

/** Members of the internal messages that Node.js exchanges between the primary and a worker. */
type ClusterMessage = Readonly<{ act?: unknown; seq?: unknown; ack?: unknown }>;

const isMessage = (value: unknown): value is ClusterMessage => typeof value === 'object' && value !== null;

type Send = (message: unknown, handle?: unknown, ...more: unknown[]) => boolean;

/**
 * Closes connections that a worker had not accepted when it died. Node.js leaks their handles, so clients would wait
 * forever. There is no Node.js API for this: the code reads internal messages (lib/internal/cluster).
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
