import { WebSocket } from 'ws';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { Slot } from '../../solana/units.ts';
import type { NodeConfig } from '../node.ts';
import { parseRetryAfter } from '../retry-after.ts';
import { revealsOneOf, secretsOf } from '../secrets.ts';
import { contextSlot } from '../slots/context-slot.ts';
import { newer } from '../slots/newest-slot.ts';
import type { FeedLimits } from './limits.ts';
import {
  type NodeSubscriptionListener,
  type NodeSubscriptionRequest,
  NodeSubscriptions,
  type SubscribeResponse,
} from './node-subscriptions.ts';
import { readNodeMessage, readRoot, readSlotInfo, type SlotInfo } from './pubsub-message.ts';

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

/** Why a connection ended. Logged, so it contains no text from a node. */
export type ConnectionEnd =
  | 'closed by the node'
  | 'connect failed'
  | 'handshake rejected'
  | 'ping timeout'
  | 'subscribe timeout'
  | 'invalid PubSub response'
  | 'slot stalled'
  | 'duplicate subscription id'
  | 'lagging'
  | 'implausible slot'
  | 'wrong chain'
  | 'node removed'
  | 'better priority available'
  | 'closed by us';

type PubsubConnectionOptions = Readonly<{
  node: NodeConfig;
  limits: FeedLimits;
  maxPlausibleSlot: () => Slot | null;
  /** Called once. `detail`: the code of a network or TLS error, or the HTTP status of a failed handshake. */
  onEnd: (end: ConnectionEnd, detail: string | null) => void;
}>;

const ERROR_CODE = /^[A-Z0-9_]{1,64}$/;

/** The error's code, used instead of its message, which may contain an address. */
function codeOf(fault: Error & { code?: unknown }): string | null {
  return typeof fault.code === 'string' && ERROR_CODE.test(fault.code) ? fault.code : null;
}

/** True for HTTP parse errors and for handshake errors other than timeouts. ws sets no code for handshake errors. */
const isHandshakeRejected = ({ message, code }: Error & { code?: unknown }): boolean =>
  typeof code === 'string' ? code.startsWith('HPE_') : !message.includes('timed out');

const SLOTS: NodeSubscriptionRequest = { kind: 'slot', params: Buffer.from('[]') };

/** A connection that also subscribes to slots, to detect stalls. Times are on the `performance.now()` clock. */
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
  /** Whether the handshake completed. Tracked here because a failed socket no longer reports CONNECTING. */
  #isUp = false;
  #plausibleUpTo: Slot | null = null;
  retryAfterMs: number | null = null;
  /** Null before the first slot, or if the node sends no slots. */
  lastSlot: SlotInfo | null = null;
  sendsSlots = false;
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
      containsSecret: (bytes) => revealsOneOf(secrets, bytes),
      isCredible: (kind, result) => {
        // An implausible slot would suppress all later notifications, so it ends the connection.
        const slot = notificationSlot(kind, result);
        if (slot === null || (this.#plausibleUpTo !== null && slot <= this.#plausibleUpTo)) return true;
        this.#plausibleUpTo = this.#options.maxPlausibleSlot();
        if (this.#plausibleUpTo === null || slot <= this.#plausibleUpTo) return true;
        this.end('implausible slot');
        return false;
      },
      onDuplicateId: () => this.end('duplicate subscription id'),
    });
    const socket = this.#socket;
    socket.on('open', () => void this.#handleOpen());
    socket.on('message', (data, isBinary) => this.#handleMessage(data as Buffer, isBinary));
    socket.on('pong', () => {
      this.#receivedAt = performance.now();
    });
    socket.on('error', (fault) => {
      const failed = isHandshakeRejected(fault) ? 'handshake rejected' : 'connect failed';
      this.end(this.#isUp ? 'closed by the node' : failed, codeOf(fault));
    });
    socket.on('unexpected-response', (_, { statusCode = 0, headers }) => {
      this.retryAfterMs = parseRetryAfter(headers['retry-after'] ?? null, Date.now());
      // A status below 500 is a rejection by the node. A 5xx status may come from a proxy whose node is restarting.
      const end = statusCode < 500 ? 'handshake rejected' : 'connect failed';
      this.end(end, `HTTP status ${statusCode}`);
    });
    socket.on('close', () => this.end('closed by the node'));
    this.#pings = setInterval(() => {
      const { pingIntervalMs, pongTimeoutMs } = this.#options.limits;
      if (performance.now() - this.#receivedAt > pingIntervalMs + pongTimeoutMs) this.end('ping timeout');
      else if (this.#socket.readyState === WebSocket.OPEN) this.#socket.ping();
    }, limits.pingIntervalMs);
    this.#startTimer = setTimeout(() => this.#handleStartTimeout(), limits.handshakeTimeoutMs);
  }

  /**
   * Resolves to true once a slot arrives, the node rejects `slotSubscribe`, or the node accepts it but sends no slot in
   * time. Resolves to false on failure.
   */
  get ready(): Promise<boolean> {
    return this.#ready.promise;
  }

  get ended(): boolean {
    return this.#end !== null;
  }

  get load(): number {
    return this.#subscriptions.size;
  }

  /** Call after `ready`. Ends the connection if nothing at all is received before the timeout. */
  async subscribe(
    request: NodeSubscriptionRequest,
    listener: NodeSubscriptionListener,
  ): Promise<SubscribeResponse> {
    if (this.#end !== null) return { kind: 'closed' };
    const startedAt = performance.now();
    const response = await this.#subscriptions.subscribe(request, listener);
    if (response.kind === 'timeout' && this.#receivedAt < startedAt) this.end('subscribe timeout');
    return response;
  }

  /** Call for signature subscriptions, which the node ends after the last notification. */
  endedByNode(request: NodeSubscriptionRequest): void {
    this.#subscriptions.endedByNode(request);
  }

  /** Resolves to null if the connection ends first. */
  nextSlot(): Promise<SlotInfo | null> {
    if (this.#end !== null) return Promise.resolve(null);
    return new Promise((resolve) => this.#slotResolvers.push(resolve));
  }

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

  async #handleOpen(): Promise<void> {
    this.#isUp = true;
    const first = this.nextSlot();
    const response = await this.#subscriptions.subscribe(SLOTS, {
      onNotification: (result) => {
        const info = readSlotInfo(result);
        if (info === null) return;
        if (this.lastSlot === null || info.slot > this.lastSlot.slot) {
          this.lastSlot = info;
          this.progressAt = performance.now();
        }
        for (const resolve of this.#slotResolvers.splice(0)) resolve(info);
      },
      onLost: () => {},
    });
    if (response.kind === 'timeout') this.end('invalid PubSub response');
    this.sendsSlots = response.kind === 'opened';
    if (response.kind === 'opened') await first;
    this.#markReady();
  }

  #markReady(): void {
    clearTimeout(this.#startTimer);
    this.#ready.resolve(this.#end === null);
  }

  #handleStartTimeout(): void {
    // While the network is stalled, the node sends no slots, but the connection works.
    if (this.sendsSlots) this.#markReady();
    else this.end(this.#socket.readyState === WebSocket.OPEN ? 'invalid PubSub response' : 'connect failed');
  }

  #handleMessage(data: Buffer, isBinary: boolean): void {
    this.#receivedAt = performance.now();
    try {
      const message = isBinary ? null : readNodeMessage(data);
      if (message === null) this.end('invalid PubSub response');
      else if (this.#end === null) this.#subscriptions.handle(message);
    } catch {
      // An error in the listener ends only this connection.
      this.end('invalid PubSub response');
    }
  }
}
