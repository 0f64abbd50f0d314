import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { Failure } from '../../protocol/errors.ts';
import type { NotificationFrame } from '../../streams/notification.ts';
import { type Behind, Outbox, type OutboxOptions } from '../../streams/outbox.ts';
import type { Backlog, Session } from '../../streams/session.ts';
import { Heartbeat, type HeartbeatOptions } from '../heartbeat.ts';
import { ReadingRest } from '../reading-rest.ts';
import type { CallPlaces } from './call-places.ts';
import type { ClientSocket, SocketKeeper } from './client-socket.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { PING_FRAME, pongFrame } from './encode.ts';
import type { Peer } from './peer.ts';

export type ConnectionOptions = ConversationOptions & HeartbeatOptions & OutboxOptions;

/** What all connections of a server have in common. */
export type ConnectionSurroundings = Readonly<{
  options: ConnectionOptions;
  places: CallPlaces;
  log: Logger;
  /** Called once, when the socket is closed. */
  gone(connection: Connection): void;
}>;

/** One connection: its socket, what waits to be sent on it, its heartbeat and its conversation. */
export class Connection implements Peer, SocketKeeper, Backlog {
  readonly #socket: ClientSocket;
  readonly #transport: Socket;
  readonly #session: Session;
  readonly #surroundings: ConnectionSurroundings;
  readonly #outbox: Outbox;
  readonly #conversation: Conversation;
  readonly #rest: ReadingRest;
  readonly #heartbeat = new Heartbeat(performance.now());
  #open = true;
  #draining = false;
  /** Notifications and their bytes that were not metered yet. */
  #messages = 0;
  #bytes = 0;

  constructor(
    socket: ClientSocket,
    transport: Socket,
    session: Session,
    surroundings: ConnectionSurroundings,
  ) {
    const { options, places } = surroundings;
    this.#socket = socket;
    this.#transport = transport;
    this.#session = session;
    this.#surroundings = surroundings;
    this.#outbox = new Outbox(transport, options, (behind) => this.cut(behind));
    this.#rest = new ReadingRest(socket);
    this.#conversation = new Conversation(session, this, options, places);
    socket.keeper = this;
    session.holdsBack?.(this);
    socket.on('message', onMessage);
    socket.on('ping', onPing);
    socket.on('pong', onPong);
    socket.on('close', onClose);
    socket.on('error', ignore);
  }

  get open(): boolean {
    return this.#open;
  }

  /** Bytes that wait for the client to read. */
  get queuedBytes(): number {
    return this.#outbox.queuedBytes;
  }

  get queuedMessages(): number {
    return this.#outbox.queuedMessages;
  }

  /** Bytes that what waits takes in memory, about. */
  get heldBytes(): number {
    return this.#outbox.heldBytes;
  }

  get messageMaxBytes(): number {
    return this.#session.limits.messageMaxBytes;
  }

  get full(): boolean {
    return this.#outbox.isFull;
  }

  send(frame: Buffer): void {
    if (this.#open) this.#outbox.push(frame);
  }

  answer(frame: Buffer): void {
    if (this.#open) this.#outbox.pushAsked(frame);
  }

  tell(frame: NotificationFrame): void {
    if (!this.#open) return;
    this.#messages += 1;
    this.#bytes += frame.length;
    this.#outbox.push(frame);
  }

  receive(message: Buffer): void {
    if (!this.#open) return;
    this.#heartbeat.used(performance.now());
    this.#pace(this.#conversation.receive(message), message.length);
  }

  ping(content: Buffer): void {
    this.#heartbeat.used(performance.now());
    if (!this.#open) return;
    this.#outbox.pushPong(pongFrame(content));
    this.#pace(1, content.length);
  }

  pong(content: Buffer): void {
    if (this.#open) this.#pace(1, content.length);
  }

  end(failure: Failure): void {
    if (!this.#open) return;
    this.closing();
    this.#socket.end(failure);
  }

  broke(thrown: unknown): void {
    this.#surroundings.log.error({ err: thrown }, 'a conversation went wrong');
    this.end(new Failure('INTERNAL'));
  }

  /** What is queued goes out ahead of the close frame. */
  closing(): void {
    if (!this.#open) return;
    this.#outbox.finish();
    this.#finish();
  }

  /** The socket is closed. */
  closed(): void {
    this.#finish();
    this.#session.close();
    this.#surroundings.gone(this);
  }

  /** Looks after the connection: meters what was told, and does what is due. */
  look(nowMs: number): void {
    this.#meter();
    if (!this.#open) return;
    const { options } = this.#surroundings;
    const due = this.#heartbeat.look(this.#pulse(), nowMs, options);
    if (due === 'ping') this.send(PING_FRAME);
    else if (due !== null) this.end(new Failure(due));
  }

  /** Ends as soon as nothing is being answered. */
  drain(): void {
    this.#draining = true;
    this.settled();
  }

  /** Closes the socket without waiting for anybody. */
  terminate(): void {
    this.#socket.terminate();
  }

  /**
   * Ends with LAGGING and without what is queued, which the client does not read anyway. Who is ending already has been
   * told why, and is waited for no longer.
   */
  cut(behind: Partial<Behind>): void {
    if (!this.#open) {
      this.terminate();
      return;
    }
    this.#finish();
    this.#session.lagged?.();
    this.#outbox.drop();
    this.#socket.end(new Failure('LAGGING', { facts: { ...behind } }));
  }

  /** A message was answered. */
  settled(): void {
    if (this.#draining && !this.#conversation.answering) this.end(new Failure('DRAINING'));
  }

  /** Reads no faster than the key may send. */
  #pace(messages: number, bytes: number): void {
    const restMs = this.#session.received(messages, bytes);
    if (restMs === Number.POSITIVE_INFINITY) {
      this.end(new Failure('RATE_LIMITED'));
      // Nothing more is read, not even the answer to the close frame: the flood would come ahead of it.
      this.#socket.pause();
    } else if (restMs > 0 && this.#open) this.#rest.extend(performance.now() + restMs);
  }

  #finish(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#rest.end();
    this.#meter();
    this.#conversation.close();
  }

  #meter(): void {
    if (this.#messages === 0) return;
    this.#session.sent(this.#messages, this.#bytes);
    this.#messages = 0;
    this.#bytes = 0;
  }

  #pulse() {
    const { bytesRead, bytesWritten, writableLength } = this.#transport;
    return {
      busy: this.#conversation.subscriptions > 0 || this.#conversation.answering,
      bytesIn: bytesRead,
      bytesOut: bytesWritten - writableLength,
      backlog: this.#outbox.queuedBytes > 0,
    };
  }
}

// Shared by all sockets, and found through `keeper`: a closure for each would be memory for each.
const connectionOf = (socket: ClientSocket): Connection => socket.keeper as Connection;

function onMessage(this: unknown, message: unknown): void {
  connectionOf(this as ClientSocket).receive(message as Buffer);
}

function onPing(this: unknown, content: Buffer): void {
  connectionOf(this as ClientSocket).ping(content);
}

function onPong(this: unknown, content: Buffer): void {
  connectionOf(this as ClientSocket).pong(content);
}

function onClose(this: unknown): void {
  connectionOf(this as ClientSocket).closed();
}

/** What was wrong has been told with the close frame. */
const ignore = (): void => {};
