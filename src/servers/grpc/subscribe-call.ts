import type { Failure } from '../../protocol/errors.ts';
import {
  decodeSubscribeDeshredRequest,
  decodeSubscribeRequest,
} from '../../protocol/geyser/decode-subscribe-request.ts';
import { deshredPingTail, deshredPongTail } from '../../protocol/geyser/encode/deshred.ts';
import { encodeTimestamp, pingTail, pongTail } from '../../protocol/geyser/encode/envelope.ts';
import type { RequestBounds } from '../../protocol/geyser/request/request-faults.ts';
import type { SubscribeDeshredRequest, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { GrpcError, type GrpcStatus } from '../../protocol/grpc/status.ts';
import type { GeyserHandler, GeyserStream, StreamRpc } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink, StreamBacklog } from '../../streams/geyser/geyser-sink.ts';
import { type CallPeer, type GrpcCallHandler, NO_FILTER_NAMES, requestCountError } from './call-handler.ts';

type StreamRequest = SubscribeRequest | SubscribeDeshredRequest;

/** Request decoding and pings, which differ between stream methods. */
type Dialect = Readonly<{
  decode: (bytes: Uint8Array, bounds: RequestBounds) => StreamRequest;
  ping: (createdAt: Uint8Array) => Uint8Array;
  pong: (id: number, createdAt: Uint8Array) => Uint8Array;
}>;

/** null: the client sends one empty request, and there are no pings. */
const dialects: Readonly<Record<StreamRpc, Dialect | null>> = {
  Subscribe: { decode: decodeSubscribeRequest, ping: pingTail, pong: pongTail },
  SubscribeDeshred: { decode: decodeSubscribeDeshredRequest, ping: deshredPingTail, pong: deshredPongTail },
  SubscribeEntries: null,
};

const now = (): Uint8Array => encodeTimestamp(BigInt(Date.now()));

/** Stays open when the client half-closes. If several requests are waiting, only the newest is applied. */
export class SubscribeCall implements GrpcCallHandler, GeyserSink {
  readonly isEndless = true;
  readonly #peer: CallPeer;
  readonly #dialect: Dialect | null;
  readonly #pings: PingTails;
  readonly #stream: GeyserStream;
  #newest: StreamRequest | null = null;
  #isServing = false;
  #isOpen = true;
  #hasRequest = false;
  #pingAtMs: number;

  constructor(peer: CallPeer, rpc: StreamRpc, handler: GeyserHandler, pings: PingTails) {
    this.#peer = peer;
    this.#dialect = dialects[rpc];
    this.#pings = pings;
    this.#stream = handler.open(peer, rpc, this, (failure: Failure) => peer.fail(failure));
    if (this.#stream.isUrgent) peer.outbox.setUrgent();
    this.#pingAtMs = performance.now() + pings.intervalMs;
    // Send the headers now, because clients wait for them.
    peer.open();
    if (this.#dialect !== null) peer.outbox.push(NO_FILTER_NAMES, this.#dialect.ping(now()));
  }

  get needsRequest(): boolean {
    return this.#dialect === null && !this.#hasRequest;
  }

  get waitingBytes(): number {
    return this.#peer.outbox.waitingBytes;
  }

  get waitingMessages(): number {
    return this.#peer.outbox.waitingMessages;
  }

  push(names: Uint8Array, tail: Uint8Array): void {
    this.#peer.outbox.push(names, tail);
  }

  end({ code, message }: GrpcStatus): void {
    if (code === 'OK') this.#peer.complete();
    else this.#peer.fail(new GrpcError(code, message));
  }

  lag(behind: StreamBacklog): void {
    this.#peer.onLagging(behind);
  }

  onMessages(messages: readonly Buffer[], bytes: number): void {
    const pauseMs = this.#stream.recordReceived(messages.length, bytes);
    if (pauseMs === Number.POSITIVE_INFINITY) {
      this.#peer.pauseReading(pauseMs);
      return;
    }
    if (this.#dialect === null) {
      if (this.#hasRequest ? messages.length > 0 : messages.length > 1) throw requestCountError();
      this.#hasRequest ||= messages.length > 0;
    } else for (const message of messages) this.#receive(this.#dialect, message);
    if (this.#newest !== null && !this.#isServing) void this.#serve();
    if (pauseMs > 0) this.#peer.pauseReading(pauseMs);
  }

  onHalfClose(): void {
    if (this.needsRequest) throw requestCountError();
  }

  tick(nowMs: number): void {
    this.#meter();
    if (this.#dialect === null || nowMs < this.#pingAtMs) return;
    this.#pingAtMs += this.#pings.intervalMs;
    this.#peer.outbox.push(NO_FILTER_NAMES, this.#pings.tail(this.#dialect.ping, nowMs));
  }

  onLagging(): void {
    this.#stream.recordLagged?.();
  }

  onClose(): void {
    this.#isOpen = false;
    this.#newest = null;
    this.#meter();
    this.#stream.close();
  }

  onStreamClose(): void {
    this.#meter();
  }

  /** A request that contains a ping is treated only as a ping. */
  #receive({ decode, pong }: Dialect, message: Buffer): void {
    const request = decode(message, this.#stream.bounds);
    if (request.ping === undefined) this.#newest = request;
    else this.#peer.outbox.push(NO_FILTER_NAMES, pong(request.ping, now()));
  }

  async #serve(): Promise<void> {
    this.#isServing = true;
    try {
      while (this.#newest !== null && this.#isOpen) {
        const request = this.#newest;
        this.#newest = null;
        await this.#stream.request(request);
      }
    } catch (thrown) {
      this.#peer.fail(thrown);
    } finally {
      this.#isServing = false;
    }
  }

  #meter(): void {
    const { messages, bytes } = this.#peer.outbox.takeSent();
    if (messages > 0) this.#stream.recordSent(messages, bytes);
  }
}

type Encode = (createdAt: Uint8Array) => Uint8Array;

/** Encodes each kind of ping only once per tick, for all streams. */
export class PingTails {
  readonly intervalMs: number;
  readonly #tails = new Map<Encode, Uint8Array>();
  #atMs = 0;

  constructor(intervalMs: number) {
    this.intervalMs = intervalMs;
  }

  tail(encode: Encode, nowMs: number): Uint8Array {
    if (nowMs !== this.#atMs) this.#tails.clear();
    this.#atMs = nowMs;
    const cached = this.#tails.get(encode);
    if (cached !== undefined) return cached;
    const encoded = encode(encodeTimestamp(BigInt(Date.now())));
    this.#tails.set(encode, encoded);
    return encoded;
  }
}
