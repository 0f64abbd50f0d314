import { ConnectionLimit } from '../access/connection-limit.ts';
import { isUsable } from '../access/key-directory.ts';
import type { KeyRecord } from '../access/key-record.ts';
import { KeyWatch, type KeyWatchOptions } from '../access/key-watch.ts';
import { MessagePace, type MessagePaceOptions } from '../access/message-pace.ts';
import { NOTIFICATIONS, type UsageStatus } from '../access/usage.ts';
import { parseJson } from '../base/json.ts';
import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import { parseSubscription } from '../protocol/pubsub/parse-subscription.ts';
import { subscriptionByMethod } from '../protocol/pubsub/subscription-method.ts';
import { RpcError } from '../protocol/rpc-error.ts';
import type { Outcome } from '../protocol/serve.ts';
import { type Subscription, subscriptions } from '../protocol/subscriptions.ts';
import type { Feed } from '../streams/feed.ts';
import type { Session, SessionLimits, StreamDoor, SubscribeOutcome, Subscriber } from '../streams/session.ts';
import { addressesOf, callsOfAddresses } from './addresses-of.ts';
import { type AnswerCall, createAnswerCall } from './answer-call.ts';
import { Held, type HoldingLimits, holdingLimits } from './held.ts';
import { explain, limited, statusOfFailure } from './outcome.ts';
import type { PipelineParts } from './pipeline.ts';
import { TopicHub, type TopicHubOptions } from './topics.ts';

export type StreamGateParts = PipelineParts & Readonly<{ feed: Feed }>;
export type StreamGateOptions = Readonly<{
  topics?: Partial<TopicHubOptions>;
  keys?: Partial<KeyWatchOptions>;
  pace?: Partial<MessagePaceOptions>;
  holdings?: Partial<HoldingLimits>;
}>;

/** What the sessions of a gate have in common. */
type Shared = PipelineParts &
  Readonly<{
    topics: TopicHub;
    places: ConnectionLimit;
    subscriptions: ConnectionLimit;
    addresses: ConnectionLimit;
    holdings: HoldingLimits;
    watch: KeyWatch;
    pace: MessagePace;
    answerCall: AnswerCall;
  }>;

/** The way of long connections: a key and a place for each, then calls and subscriptions within its plan. */
export class StreamGate implements StreamDoor {
  readonly #shared: Shared;

  constructor({ feed, ...parts }: StreamGateParts, options: StreamGateOptions = {}) {
    this.#shared = {
      ...parts,
      topics: new TopicHub(feed, options.topics),
      places: new ConnectionLimit(),
      subscriptions: new ConnectionLimit(),
      addresses: new ConnectionLimit(),
      holdings: { ...holdingLimits, ...options.holdings },
      watch: new KeyWatch(parts.keys, options.keys),
      pace: new MessagePace(options.pace),
      answerCall: createAnswerCall(parts),
    };
  }

  /** Different subscriptions that are open. */
  get topics(): number {
    return this.#shared.topics.size;
  }

  connect(
    credential: string | null,
    product: Product,
    network: Network,
    onEnd: (failure: Failure) => void,
  ): Session {
    const { keys, usage, log } = this.#shared;
    const startedAt = performance.now();
    let key: KeyRecord | null = null;
    try {
      key = keys.authenticate(credential, product, Date.now());
      this.#takePlace(key, startedAt);
      return new GateSession(this.#shared, key, network, onEnd);
    } catch (thrown) {
      const failure = explain(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause }, 'a connection could not be begun');
      const latencyMicros = (performance.now() - startedAt) * 1000;
      const status = statusOfFailure(failure);
      usage.record({ ...noCall, key, product, status, latencyMicros }, Date.now());
      throw failure;
    }
  }

  /** Ends every subscription and watch. Sessions are closed before. */
  close(): void {
    this.#shared.topics.close();
    this.#shared.watch.close();
  }

  /** @throws Failure RATE_LIMITED, CONNECTION_LIMIT. */
  #takePlace({ familyId, limits }: KeyRecord, nowMs: number): void {
    const rate = this.#shared.limiter.take(familyId, limits, nowMs);
    if (rate !== null && !rate.allowed) throw limited(rate);
    const { wsConnectionsMax: connectionsMax } = limits;
    if (this.#shared.places.take(familyId, connectionsMax)) return;
    throw new Failure('CONNECTION_LIMIT', { facts: { connectionsMax } });
  }
}

/** A connection that was refused: for no method, of no bytes. */
const noCall = { method: '', bytesIn: 0, bytesOut: 0, credits: 0 } as const;

/** A request to subscribe, for metering. */
type SubscribeRequest = Readonly<{ method: string; bytesIn: number; startedAt: number }>;

class GateSession implements Session {
  readonly #shared: Shared;
  /** As it was when the connection began: whose it is does not change. */
  readonly #key: KeyRecord;
  readonly #network: Network;
  readonly #unwatch: () => void;
  /** Subscriptions that are open or being opened. */
  readonly #open = new Set<Held>();
  readonly #release = (held: Held): void => {
    if (!this.#open.delete(held)) return;
    const { familyId } = this.#key;
    if (held.addresses > 0) this.#shared.addresses.giveBack(familyId, held.addresses);
    this.#shared.subscriptions.giveBack(familyId);
  };
  #ended = false;
  #closed = false;

  constructor(shared: Shared, key: KeyRecord, network: Network, onEnd: (failure: Failure) => void) {
    this.#shared = shared;
    this.#key = key;
    this.#network = network;
    this.#unwatch = shared.watch.watch(key.id, onEnd);
  }

  get limits(): SessionLimits {
    const { wsSubscriptionsMax, wsMessageMaxBytes } = this.#key.limits;
    return { subscriptionsMax: wsSubscriptionsMax, messageMaxBytes: wsMessageMaxBytes };
  }

  call(method: string, params: Buffer | null, bytesIn: number, signal: AbortSignal): Promise<Outcome> {
    const { product } = this.#key;
    const request = { product, network: this.#network, method, params, bytesIn };
    return this.#shared.answerCall(() => this.#current(), request, signal);
  }

  async subscribe(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    subscriber: Subscriber,
  ): Promise<SubscribeOutcome> {
    const request = { method, bytesIn, startedAt: performance.now() };
    const held = new Held(subscriber, this.#release);
    try {
      this.#admit(held, request.startedAt);
      const subscription = parse(method, params);
      this.#weigh(held, addressesOf(subscription), request.startedAt);
      held.opened = await this.#shared.topics.join(subscription, held);
      // The connection may have ended meanwhile, with its key or its client.
      if (this.#ended) throw new Failure('CLIENT_GONE');
      this.#meter(request, 'ok', subscriptions[subscription.kind].cost);
      return { opened: held, refusal: null };
    } catch (thrown) {
      held.close();
      return { opened: null, refusal: this.#refuse(request, thrown) };
    }
  }

  received(messages: number, bytes: number): number {
    const { familyId, limits } = this.#key;
    return this.#shared.pace.spend(familyId, limits, messages, bytes, performance.now());
  }

  sent(messages: number, bytes: number): void {
    const { product } = this.#key;
    this.#shared.usage.recordMessages(
      { key: this.#key, product, method: NOTIFICATIONS, messages, bytesOut: bytes },
      Date.now(),
    );
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    for (const held of this.#open) held.close();
  }

  close(): void {
    this.end();
    if (this.#closed) return;
    this.#closed = true;
    this.#shared.places.giveBack(this.#key.familyId);
  }

  /** @throws Failure CLIENT_GONE, INVALID_KEY, RATE_LIMITED, SUBSCRIPTION_LIMIT. */
  #admit(held: Held, nowMs: number): void {
    const { familyId, limits } = this.#current();
    const rate = this.#shared.limiter.take(familyId, limits, nowMs);
    if (rate !== null && !rate.allowed) throw limited(rate);
    const { wsSubscriptionsMax: subscriptionsMax } = limits;
    if (this.#open.size >= subscriptionsMax) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { subscriptionsMax } });
    }
    const { keySubscriptionsMax } = this.#shared.holdings;
    if (!this.#shared.subscriptions.take(familyId, keySubscriptionsMax)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keySubscriptionsMax } });
    }
    this.#open.add(held);
  }

  /** @throws Failure SUBSCRIPTION_LIMIT, RATE_LIMITED. */
  #weigh(held: Held, addresses: number, nowMs: number): void {
    const { familyId, limits } = this.#key;
    const { keyAddressesMax } = this.#shared.holdings;
    if (!this.#shared.addresses.take(familyId, keyAddressesMax, addresses)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keyAddressesMax } });
    }
    held.addresses = addresses;
    const calls = callsOfAddresses(addresses);
    if (calls === 0) return;
    const rate = this.#shared.limiter.take(familyId, limits, nowMs, calls);
    if (rate !== null && !rate.allowed) throw limited(rate);
  }

  /** The key as it is now: its plan may have changed. @throws Failure CLIENT_GONE, INVALID_KEY. */
  #current(): KeyRecord {
    if (this.#ended) throw new Failure('CLIENT_GONE');
    const record = this.#shared.keys.find(this.#key.id);
    if (record === undefined || !isUsable(record, Date.now())) throw new Failure('INVALID_KEY');
    return record;
  }

  #refuse(request: SubscribeRequest, thrown: unknown): Failure | RpcError {
    const { method } = request;
    if (thrown instanceof RpcError) {
      this.#meter(request, 'rpcError', costOf(method));
      return thrown;
    }
    const failure = explain(thrown);
    const { cause } = failure;
    if (failure.code === 'INTERNAL') {
      this.#shared.log.error({ err: cause, keyId: this.#key.id, method }, 'a subscription went wrong');
    }
    this.#meter(request, statusOfFailure(failure), 0);
    return failure;
  }

  #meter({ method, bytesIn, startedAt }: SubscribeRequest, status: UsageStatus, credits: number): void {
    const { product } = this.#key;
    const latencyMicros = (performance.now() - startedAt) * 1000;
    this.#shared.usage.record(
      { key: this.#key, product, method, status, bytesIn, bytesOut: 0, credits, latencyMicros },
      Date.now(),
    );
  }
}

const costOf = (method: string): number => {
  const kind = subscriptionByMethod(method)?.kind;
  return kind === undefined ? 0 : subscriptions[kind].cost;
};

/** @throws RpcError -32601, -32602. */
function parse(method: string, params: Buffer | null): Subscription {
  const known = subscriptionByMethod(method);
  if (known?.action !== 'subscribe') throw new RpcError(-32601, 'Method not found');
  return parseSubscription(known.kind, params === null ? undefined : parseJson(params.toString('utf8')));
}
