import type { Failure } from '../../protocol/errors.ts';
import type { NotificationFrame } from '../../streams/notification.ts';

/** The client side of a connection. */
export interface Peer {
  /** False as soon as the connection is closing. */
  readonly isOpen: boolean;
  /** The queue is full; no further calls are dispatched. */
  readonly isFull: boolean;
  /** Sends a frame unless the connection is closing. */
  send(frame: Buffer): void;
  /** Sends the response to a call, whatever its size. */
  sendResponse(frame: Buffer): void;
  /** Sends a metered notification. */
  sendNotification(frame: NotificationFrame): void;
  /** Closes with the close code and text of a failure. */
  end(failure: Failure): void;
  /** A message was answered. */
  onSettled(): void;
  /** Logs an unexpected exception and closes with INTERNAL. */
  onError(thrown: unknown): void;
}
