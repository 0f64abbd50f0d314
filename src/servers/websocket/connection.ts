import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import type { NotificationFrame } from '../../streams/notification.ts';
import { Outbox, type OutboxOptions, type SendBacklog } from '../../streams/outbox.ts';
import type { Backlog, Session } from '../../streams/session.ts';
import { Heartbeat, type HeartbeatOptions, ReadPause } from '../connection-lifecycle.ts';
import type { CallConcurrencyLimit } from './call-queue.ts';
import { Conversation, type ConversationOptions, type Peer } from './conversation.ts';
import { closeReason, failureOf, PING_FRAME, pongFrame } from './encode.ts';

/**
 * Reports when either side starts the closing handshake, because nothing may follow a close frame (RFC 6455 §5.5.1).
 * `ws` itself sends a close frame when the client closes or sends an invalid frame.
 */
export class ClientSocket extends WebSocket {
  connection: Connection | null = null;

  /** For an invalid frame, `ws` passes a code without a reason. */
  override close(code?: number, reason?: string | Buffer): void {
    if (this.readyState === WebSocket.OPEN) this.connection?.onClosing();
    if (code !== undefined && reason === undefined)
      this.end(failureOf(code, this.connection?.messageMaxBytes ?? 0));
    else super.close(code, reason);
  }

  end(failure: Failure): void {
    super.close(failure.row.close, closeReason(failure));
  }
}

export type ConnectionOptions = ConversationOptions & HeartbeatOptions & OutboxOptions;

export type ConnectionContext = Readonly<{
  options: ConnectionOptions;
  callLimit: CallConcurrencyLimit;
  log: Logger;
  onClose(connection: Connection): void;
}>;

export class Connection implements Peer, Backlog {
  readonly #socket: ClientSocket;
  readonly #transport: Socket;
  readonly #session: Session;
  readonly #context: ConnectionContext;
  readonly #outbox: Outbox;
  readonly #conversation: Conversation;
  readonly #readPause: ReadPause;
  readonly #heartbeat = new Heartbeat(performance.now());
  #isOpen = true;
  #draining = false;
  #unreportedMessages = 0;
  #unreportedBytes = 0;

  constructor(socket: ClientSocket, transport: Socket, session: Session, context: ConnectionContext) {
    const { options, callLimit } = context;
    this.#socket = socket;
    this.#transport = transport;
    this.#session = session;
    this.#context = context;
    this.#outbox = new Outbox(transport, options, (backlog) => this.disconnectSlowConsumer(backlog));
    this.#readPause = new ReadPause(socket);
    this.#conversation = new Conversation(session, this, options, callLimit);
    socket.connection = this;
    session.setBacklog?.(this);
    socket.on('message', onMessage);
    socket.on('ping', onPing);
    socket.on('pong', onPong);
    socket.on('close', onClose);
    socket.on('error', ignore);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get queuedBytes(): number {
    return this.#outbox.queuedBytes;
  }

  get queuedMessages(): number {
    return this.#outbox.queuedMessages;
  }

  /** Approximate memory of unsent data. */
  get bufferedBytes(): number {
    return this.#outbox.memoryBytes;
  }

  get messageMaxBytes(): number {
    return this.#session.limits.messageMaxBytes;
  }

  get isFull(): boolean {
    return this.#outbox.isFull;
  }

  send(frame: Buffer): void {
    if (this.#isOpen) this.#outbox.push(frame);
  }

  sendResponse(frame: Buffer): void {
    if (this.#isOpen) this.#outbox.pushResponse(frame);
  }

  sendNotification(frame: NotificationFrame): void {
    if (!this.#isOpen) return;
    this.#unreportedMessages += 1;
    this.#unreportedBytes += frame.length;
    this.#outbox.push(frame);
  }

  receive(message: Buffer): void {
    if (!this.#isOpen) return;
    this.#heartbeat.recordActivity(performance.now());
    this.#pace(this.#conversation.receive(message), message.length);
  }

  receivePing(content: Buffer): void {
    this.#heartbeat.recordActivity(performance.now());
    if (!this.#isOpen) return;
    this.#outbox.pushPong(pongFrame(content));
    this.#pace(1, content.length);
  }

  receivePong(content: Buffer): void {
    if (this.#isOpen) this.#pace(1, content.length);
  }

  end(failure: Failure): void {
    if (!this.#isOpen) return;
    this.onClosing();
    this.#socket.end(failure);
  }

  onError(thrown: unknown): void {
    this.#context.log.error({ err: thrown }, 'WebSocket connection failed unexpectedly');
    this.end(new Failure('INTERNAL'));
  }

  /** The close frame is sent next, so queued data must be flushed now. */
  onClosing(): void {
    if (!this.#isOpen) return;
    this.#outbox.finish();
    this.#markClosed();
  }

  onClose(): void {
    this.#markClosed();
    this.#session.close();
    this.#context.onClose(this);
  }

  tick(nowMs: number): void {
    this.#reportSent();
    if (!this.#isOpen) return;
    const { options } = this.#context;
    const action = this.#heartbeat.check(this.#activitySample(), nowMs, options);
    if (action === 'ping') this.send(PING_FRAME);
    else if (action !== null) this.end(new Failure(action));
  }

  /** Ends with DRAINING once no call is in flight. */
  drain(): void {
    this.#draining = true;
    this.onMessageSettled();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Backpressure: disconnects a slow client and drops its queue. Terminates a connection that is already closing. */
  disconnectSlowConsumer(backlog: Partial<SendBacklog>): void {
    if (!this.#isOpen) {
      this.terminate();
      return;
    }
    this.#markClosed();
    this.#session.recordLagged?.();
    this.#outbox.drop();
    this.#socket.end(new Failure('LAGGING', { facts: { ...backlog } }));
  }

  onMessageSettled(): void {
    if (this.#draining && !this.#conversation.hasPendingMessages) this.end(new Failure('DRAINING'));
  }

  /** Pauses reading when the API key's message rate is exceeded; ends the connection when it is far exceeded. */
  #pace(messages: number, bytes: number): void {
    const pauseMs = this.#session.recordReceived(messages, bytes);
    if (pauseMs === Number.POSITIVE_INFINITY) {
      this.end(new Failure('RATE_LIMITED'));
      // Stop reading without waiting for the client's close frame: the flood would arrive ahead of it.
      this.#socket.pause();
    } else if (pauseMs > 0 && this.#isOpen) this.#readPause.extend(performance.now() + pauseMs);
  }

  #markClosed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#readPause.resume();
    this.#reportSent();
    this.#conversation.close();
  }

  #reportSent(): void {
    if (this.#unreportedMessages === 0) return;
    this.#session.recordSent(this.#unreportedMessages, this.#unreportedBytes);
    this.#unreportedMessages = 0;
    this.#unreportedBytes = 0;
  }

  #activitySample() {
    const { bytesRead, bytesWritten, writableLength } = this.#transport;
    return {
      isBusy: this.#conversation.subscriptions > 0 || this.#conversation.hasPendingMessages,
      bytesIn: bytesRead,
      bytesOut: bytesWritten - writableLength,
      hasBacklog: this.#outbox.queuedBytes > 0,
    };
  }
}

// Handlers shared by all sockets read `socket.connection`, because closures per socket would cost memory.
const connectionOf = (socket: ClientSocket): Connection => socket.connection as Connection;

function onMessage(this: unknown, message: unknown): void {
  connectionOf(this as ClientSocket).receive(message as Buffer);
}

function onPing(this: unknown, content: Buffer): void {
  connectionOf(this as ClientSocket).receivePing(content);
}

function onPong(this: unknown, content: Buffer): void {
  connectionOf(this as ClientSocket).receivePong(content);
}

function onClose(this: unknown): void {
  connectionOf(this as ClientSocket).onClose();
}

/** Protocol errors need no handling here: `close` reports them in the close frame. */
const ignore = (): void => {};
