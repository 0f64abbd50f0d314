import type { Failure } from '../../protocol/errors.ts';
import type { NotificationFrame } from '../../streams/notification.ts';

/** The client's end of a connection, as those see it who talk to it. */
export interface Peer {
  /** Whether anything may still be sent; false as soon as the connection is ending. */
  readonly isOpen: boolean;
  /** More waits for the client to read than should: nothing more is asked for in its name. */
  readonly isFull: boolean;
  /** Sends a frame; nothing when the connection is ending. */
  send(frame: Buffer): void;
  /** Sends the answer to a call that was made: however large it is, the client asked for it. */
  sendResponse(frame: Buffer): void;
  /** Sends a notification, which is metered. */
  sendNotification(frame: NotificationFrame): void;
  /** Ends the connection with the close code and text of the failure. */
  end(failure: Failure): void;
  /** A message was answered. */
  onSettled(): void;
  /** Something of ours went wrong: logged, and the connection ends with INTERNAL. */
  onError(thrown: unknown): void;
}
