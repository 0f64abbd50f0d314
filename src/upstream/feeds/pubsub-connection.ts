import { WebSocket } from 'ws';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import type { NodeConfig } from '../node.ts';
import { parseRetryAfter } from '../retry-after.ts';
import { revealsOneOf, secretsOf } from '../secrets.ts';
import { contextSlot } from '../slots/observed-slot.ts';
import { newer } from './gap/continuity.ts';
import { readRoot } from './gap/slot-gap.ts';
import type { FeedLimits } from './limits.ts';
import {
  type NodeSubscriptionListener,
  type NodeSubscriptionRequest,
  NodeSubscriptions,
  type SubscribeResponse,
} from './node-subscriptions.ts';
import { readNodeMessage, readSlotInfo, type SlotInfo } from './pubsub-message.ts';

/** The newest slot that a notification names; null where its kind names none, or it is something else. */
function notificationSlot(kind: SubscriptionKind, result: Buffer): Slot | null {
  switch (kind) {
    case 'slot': {
      const info = readSlotInfo(result);
      return info === null ? null : newer(info.slot, info.root);
    }
    case 'root':
      return readRoot(result);
    case 'account':
    case 'program':
    case 'logs':
    case 'signature':
      return contextSlot(result);
    default:
      return null;
  }
}

/** Why a connection is over. A few words for logs: they hold nothing that a node sent. */
export type ConnectionEnd =
  | 'closed by the node'
  | 'no connection'
  | 'the handshake was refused'
  | 'no answer to a ping'
  | 'no answer to a subscription'
  | 'no PubSub message'
  | 'no new slot'
  | 'one id for two subscriptions'
  | 'behind the network'
  | 'a slot that cannot be'
  | 'another chain'
  | 'taken out of service'
  | 'closed by us';

type PubsubConnectionOptions = Readonly<{
  /** The node, with a `ws` address. */
  node: NodeConfig;
  limits: FeedLimits;
  /** The newest slot that it may tell of now; null while nobody knows. */
  maxPlausibleSlot: () => Slot | null;
  /**
   * Called once.
   * @param detail - the code of a network or TLS error, or the HTTP status in place of a handshake; null for none.
   */
  onEnd: (end: ConnectionEnd, detail: string | null) => void;
}>;

const ERROR_CODE = /^[A-Z0-9_]{1,64}$/;

/** Never the message, which may name an address. */
function codeOf(fault: Error & { code?: unknown }): string | null {
  return typeof fault.code === 'string' && ERROR_CODE.test(fault.code) ? fault.code : null;
}

/** The other side answered, and not as a PubSub does; a proxy says 5xx of a node that is about to come back. */
const isRefusal = (status: number): boolean => status < 500;

/** What was answered was no handshake. Nobody there, or too late, is no refusal; of these ws names no code. */
const isHandshakeRefused = ({ message, code }: Error & { code?: unknown }): boolean =>
  typeof code === 'string' ? code.startsWith('HPE_') : !message.includes('timed out');

const SLOTS: NodeSubscriptionRequest = { kind: 'slot', params: Buffer.from('[]') };

/**
 * One WebSocket to the PubSub of one node. It subscribes to slots by itself and so knows how far the node is:
 * the watchdog looks at that, not at the socket. Times are `performance.now()`.
 */
export class PubsubConnection {
  readonly #options: PubsubConnectionOptions;
  readonly #socket: WebSocket;
  readonly #subscriptions: NodeSubscriptions;
  readonly #ready = Promise.withResolvers<boolean>();
  readonly #pings: NodeJS.Timeout;
  readonly #startTimer: NodeJS.Timeout;
  #slotResolvers: ((info: SlotInfo | null) => void)[] = [];
  #receivedAt = performance.now();
  #end: ConnectionEnd | null = null;
  /** The handshake is done. A socket that fails before is no longer said to be connecting. */
  #isUp = false;
  /** A slot up to which nobody need be asked. */
  #plausibleUpTo: Slot | null = null;
  /** How long the node asked to be left alone, in place of a handshake; null when it did not. */
  retryAfterMs: number | null = null;
  /** The newest slot it told of; null before the first, and for ever where the node tells no slots. */
  lastSlot: SlotInfo | null = null;
  /** Whether the node took our subscription to its slots. */
  sendsSlots = false;
  /** When it told of a newer slot than before. */
  progressAt = performance.now();

  constructor(options: PubsubConnectionOptions) {
    const { node, limits } = options;
    this.#options = options;
    const address = node.ws ?? '';
    const secrets = secretsOf(new URL(address), node.headers ?? {});
    this.#socket = new WebSocket(address, {
      headers: { ...node.headers },
      handshakeTimeout: limits.handshakeTimeoutMs,
      maxPayload: limits.messageMaxBytes,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.#subscriptions = new NodeSubscriptions({
      send: (request) => this.#socket.send(request, { binary: false }),
      ackTimeoutMs: limits.ackTimeoutMs,
      isRevealing: (bytes) => revealsOneOf(secrets, bytes),
      isCredible: (kind, result) => this.#isPlausible(kind, result),
      onDuplicateId: () => this.end('one id for two subscriptions'),
    });
    this.#listen();
    this.#pings = setInterval(() => this.#ping(), limits.pingIntervalMs);
    this.#startTimer = setTimeout(() => this.#handleStartTimeout(), limits.handshakeTimeoutMs);
  }

  /** Whether it came up: kept when the node has told a first slot, or will not tell any. */
  get ready(): Promise<boolean> {
    return this.#ready.promise;
  }

  get ended(): boolean {
    return this.#end !== null;
  }

  /** Streams on it, its own slots included. */
  get load(): number {
    return this.#subscriptions.size;
  }

  /**
   * Asks for a subscription. A connection on which nothing came meanwhile is dead: it ends, so that whoever asks
   * next gets another one.
   * @returns `gone` at once when the connection is over. Wait for `ready` first.
   */
  async subscribe(
    request: NodeSubscriptionRequest,
    listener: NodeSubscriptionListener,
  ): Promise<SubscribeResponse> {
    if (this.#end !== null) return { kind: 'gone' };
    const startedAt = performance.now();
    const response = await this.#subscriptions.subscribe(request, listener);
    if (response.kind === 'unanswered' && this.#receivedAt < startedAt)
      this.end('no answer to a subscription');
    return response;
  }

  /** The node itself ends a signature's subscription with its last notification. */
  endedByNode(request: NodeSubscriptionRequest): void {
    this.#subscriptions.endedByNode(request);
  }

  /** The next slot it tells of; null when it ends before. */
  nextSlot(): Promise<SlotInfo | null> {
    if (this.#end !== null) return Promise.resolve(null);
    return new Promise((resolve) => this.#slotResolvers.push(resolve));
  }

  /** Ends it at once, without waiting for the other side, which may be dead. */
  end(end: ConnectionEnd, detail: string | null = null): void {
    if (this.#end !== null) return;
    this.#end = end;
    clearInterval(this.#pings);
    clearTimeout(this.#startTimer);
    this.#socket.terminate();
    this.#ready.resolve(false);
    for (const resolve of this.#slotResolvers.splice(0)) resolve(null);
    this.#options.onEnd(end, detail);
    this.#subscriptions.closeAll();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.on('open', () => void this.#handleOpen());
    socket.on('message', (data, isBinary) => this.#handleMessage(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#receivedAt = performance.now();
    });
    socket.on('error', (fault) =>
      this.end(
        this.#isUp
          ? 'closed by the node'
          : isHandshakeRefused(fault)
            ? 'the handshake was refused'
            : 'no connection',
        codeOf(fault),
      ),
    );
    socket.on('unexpected-response', (_, { statusCode = 0, headers }) => {
      this.retryAfterMs = parseRetryAfter(headers['retry-after'] ?? null, Date.now());
      const end = isRefusal(statusCode) ? 'the handshake was refused' : 'no connection';
      this.end(end, `HTTP status ${statusCode}`);
    });
    socket.on('close', () => this.end('closed by the node'));
  }

  async #handleOpen(): Promise<void> {
    this.#isUp = true;
    const first = this.nextSlot();
    const response = await this.#subscriptions.subscribe(SLOTS, {
      onNotification: (result) => this.#handleSlot(result),
      onLost: () => {},
    });
    if (response.kind === 'unanswered') this.end('no PubSub message');
    this.sendsSlots = response.kind === 'opened';
    if (response.kind === 'opened') await first;
    this.#markReady();
  }

  #markReady(): void {
    clearTimeout(this.#startTimer);
    this.#ready.resolve(this.#end === null);
  }

  /** The time to come up is over. */
  #handleStartTimeout(): void {
    // A network that stands still tells no slot; the connection is good all the same.
    if (this.sendsSlots) this.#markReady();
    else this.end(this.#socket.readyState === WebSocket.OPEN ? 'no PubSub message' : 'no connection');
  }

  #handleMessage(data: Buffer, isBinary: boolean): void {
    this.#receivedAt = performance.now();
    try {
      const message = isBinary ? null : readNodeMessage(data);
      if (message === null) this.end('no PubSub message');
      else if (this.#end === null) this.#subscriptions.handle(message);
    } catch {
      // What breaks whoever reads it ends the connection that it came over, and nothing else.
      this.end('no PubSub message');
    }
  }

  /** One absurd slot, once believed, would silence all that follows: whoever tells it is left. */
  #isPlausible(kind: SubscriptionKind, result: Buffer): boolean {
    const slot = notificationSlot(kind, result);
    if (slot === null || (this.#plausibleUpTo !== null && slot <= this.#plausibleUpTo)) return true;
    this.#plausibleUpTo = this.#options.maxPlausibleSlot();
    if (this.#plausibleUpTo === null || slot <= this.#plausibleUpTo) return true;
    this.end('a slot that cannot be');
    return false;
  }

  #handleSlot(result: Buffer): void {
    const info = readSlotInfo(result);
    if (info === null) return;
    if (this.lastSlot === null || info.slot > this.lastSlot.slot) {
      this.lastSlot = info;
      this.progressAt = performance.now();
    }
    for (const resolve of this.#slotResolvers.splice(0)) resolve(info);
  }

  #ping(): void {
    const { pingIntervalMs, pongTimeoutMs } = this.#options.limits;
    if (performance.now() - this.#receivedAt > pingIntervalMs + pongTimeoutMs)
      this.end('no answer to a ping');
    else if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
  }
}
