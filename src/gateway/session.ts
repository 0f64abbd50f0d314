import { ConnectionLimit } from '../access/connection-limit.ts';
import type { KeyRecord } from '../access/key-record.ts';
import { KeyWatch, type KeyWatchOptions, type UseRefusal } from '../access/key-watch.ts';
import { MessagePace, type MessagePaceOptions } from '../access/message-pace.ts';
import { NOTIFICATIONS, type UsageStatus } from '../access/usage.ts';
import type { Visit } from '../access/visit.ts';
import { parseJson } from '../base/json.ts';
import { withDefaults } from '../base/with-defaults.ts';
import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import { parseSubscription } from '../protocol/pubsub/parse-subscription.ts';
import { subscriptionByMethod } from '../protocol/pubsub/subscription-method.ts';
import { RpcError } from '../protocol/rpc-error.ts';
import type { Caller, Client, Outcome } from '../protocol/serve.ts';
import { type Subscription, subscriptions } from '../protocol/subscriptions.ts';
import type { Feed } from '../streams/feed.ts';
import type {
  Backlog,
  Session,
  SessionLimits,
  StreamDoor,
  SubscribeOutcome,
  Subscriber,
} from '../streams/session.ts';
import { addressesOf, callsOfAddresses } from './addresses-of.ts';
import { CallWay } from './answer-call.ts';
import { Held, type HoldingLimits, holdingLimits } from './held.ts';
import { LiveSession } from './live-session.ts';
import { countNonCall, noCall } from './non-call.ts';
import { explain, statusOfFailure } from './outcome.ts';
import type { PipelineParts } from './pipeline.ts';
import { TopicHub, type TopicHubOptions } from './topics.ts';

export type StreamGateParts = PipelineParts &
  Readonly<{
    feed: Feed;
    /** Places of connections, where others hold such too. */
    places?: ConnectionLimit;
    /** Why a connection ends though its key is good. */
    refusal: UseRefusal;
  }>;
export type StreamGateOptions = Readonly<{
  topics?: Partial<TopicHubOptions>;
  keys?: Partial<Omit<KeyWatchOptions, 'refusal'>>;
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
    way: CallWay;
  }>;

/** The way of long connections: a key and a place for each, then calls and subscriptions within its plan. */
export class StreamGate implements StreamDoor {
  readonly #shared: Shared;

  constructor({ feed, refusal, ...parts }: StreamGateParts, options: StreamGateOptions = {}) {
    this.#shared = {
      ...parts,
      topics: new TopicHub(feed, options.topics),
      places: parts.places ?? new ConnectionLimit(),
      subscriptions: new ConnectionLimit(),
      addresses: new ConnectionLimit(),
      holdings: withDefaults(holdingLimits, options.holdings),
      watch: new KeyWatch(parts.admission.keys, { ...options.keys, refusal }),
      pace: new MessagePace(options.pace),
      way: new CallWay(parts, 'socket'),
    };
  }

  /** Different subscriptions that are open. */
  get topics(): number {
    return this.#shared.topics.size;
  }

  connect(caller: Caller, product: Product, network: Network, onEnd: (failure: Failure) => void): Session {
    const { admission, meter, log } = this.#shared;
    const visit = meter.begin(caller.client, caller.traceparent);
    try {
      const key = admission.identify(caller, product, network, visit);
      admission.permit(visit, null);
      admission.takeRate(visit);
      this.#takePlace(key);
      return new GateSession(this.#shared, key, endsOf(caller, network), onEnd);
    } catch (thrown) {
      const failure = explain(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause }, 'a connection could not be begun');
      // Refused in HTTP, before the socket leaves it.
      const refused = { status: statusOfFailure(failure), failure };
      meter.end(visit, { ...noCall, ...refused, wire: 'rest', product, network });
      throw failure;
    }
  }

  /** Ends every subscription and watch. Sessions are closed before. */
  close(): void {
    this.#shared.topics.close();
    this.#shared.watch.close();
  }

  /** @throws Failure CONNECTION_LIMIT. */
  #takePlace({ familyId, limits }: KeyRecord): void {
    const { wsConnectionsMax: connectionsMax } = limits;
    if (this.#shared.places.take(familyId, connectionsMax)) return;
    throw new Failure('CONNECTION_LIMIT', { facts: { connectionsMax } });
  }
}

/** A request to subscribe, for metering. */
type SubscribeRequest = Readonly<{ method: string; params: Buffer | null; bytesIn: number; visit: Visit }>;

/** Where a connection came from, where its calls go, and the session that they are of; null: none. */
type Ends = Readonly<{ client: Client; network: Network; session: string | null }>;

const endsOf = ({ client, session }: Caller, network: Network): Ends => ({
  ...{ client, network, session: session ?? null },
});

class GateSession implements Session {
  readonly #shared: Shared;
  /** As it was when the connection began: whose it is does not change, and its plan may. */
  readonly #key: KeyRecord;
  readonly #ends: Ends;
  readonly #unwatch: () => void;
  /** Subscriptions that are open or being opened. */
  readonly #open = new Set<Held>();
  readonly #release = (held: Held): void => {
    if (!this.#open.delete(held)) return;
    const { familyId } = this.#key;
    if (held.addresses > 0) this.#shared.addresses.giveBack(familyId, held.addresses);
    this.#shared.subscriptions.giveBack(familyId);
  };
  readonly #live: LiveSession;
  readonly #unlist: (() => void) | undefined;
  #ended = false;
  #closed = false;

  constructor(shared: Shared, key: KeyRecord, ends: Ends, onEnd: (failure: Failure) => void) {
    this.#shared = shared;
    this.#key = key;
    this.#ends = ends;
    this.#unwatch = shared.watch.watch(key.id, ends, onEnd);
    this.#live = new LiveSession(key, ends.client.address, this.#open, onEnd);
    this.#unlist = shared.connections?.opened(this.#live);
  }

  get limits(): SessionLimits {
    const { wsSubscriptionsMax, wsMessageMaxBytes } = this.#keyNow.limits;
    return { subscriptionsMax: wsSubscriptionsMax, messageMaxBytes: wsMessageMaxBytes };
  }

  call(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    idBytes: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { product } = this.#key;
    const { client, network, session } = this.#ends;
    const request = { product, network, method, params, bytesIn, idBytes, session };
    const { way, meter } = this.#shared;
    return way.answer(meter.begin(client), (visit) => this.#identify(visit), request, signal);
  }

  countNonCall(fault: Failure | null, bytesIn: number, idBytes: number | null): Failure | null {
    const visit = this.#shared.meter.begin(this.#ends.client);
    const nonCall = { product: this.#key.product, network: this.#ends.network, fault, bytesIn, idBytes };
    return countNonCall(this.#shared, 'socket', visit, (asked) => this.#identify(asked), nonCall);
  }

  async subscribe(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    subscriber: Subscriber,
  ): Promise<SubscribeOutcome> {
    const visit = this.#shared.meter.begin(this.#ends.client);
    const request = { method, params, bytesIn, visit };
    const held = new Held(subscriber, this.#release);
    try {
      this.#admit(held, request);
      const subscription = parse(method, params);
      held.subscription = subscription;
      this.#weigh(held, addressesOf(subscription), visit);
      held.opened = await this.#shared.topics.join(subscription, held);
      // The connection may have ended meanwhile, with its key or its client.
      if (this.#ended) throw new Failure('CLIENT_GONE');
      this.#meter(request, 'ok', null, 0, subscriptions[subscription.kind].cost);
      return { opened: held, refusal: null };
    } catch (thrown) {
      held.close();
      return { opened: null, refusal: this.#refuse(request, thrown) };
    }
  }

  received(messages: number, bytes: number): number {
    const { familyId, limits } = this.#keyNow;
    return this.#shared.pace.spend(familyId, limits, messages, bytes, performance.now());
  }

  sent(messages: number, bytes: number): void {
    const key = this.#keyNow;
    const { product } = key;
    this.#live.messages += messages;
    this.#live.bytes += bytes;
    this.#shared.meter.sent({ key, product, method: NOTIFICATIONS, messages, bytesOut: bytes });
  }

  holdsBack(backlog: Backlog): void {
    this.#live.backlog = backlog;
  }

  lagged(): void {
    this.#shared.connections?.cutForLag(this.#key.customerId, Date.now());
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
    this.#unlist?.();
    this.#shared.places.giveBack(this.#key.familyId);
  }

  /** @throws Failure as of a call, SUBSCRIPTION_LIMIT. */
  #admit(held: Held, { method, visit }: SubscribeRequest): void {
    const { familyId, limits } = this.#identify(visit);
    this.#shared.admission.permit(visit, method, costOf(method));
    this.#shared.admission.takeRate(visit);
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
  #weigh(held: Held, addresses: number, visit: Visit): void {
    const { familyId } = this.#key;
    const { keyAddressesMax } = this.#shared.holdings;
    if (!this.#shared.addresses.take(familyId, keyAddressesMax, addresses)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keyAddressesMax } });
    }
    held.addresses = addresses;
    const calls = callsOfAddresses(addresses);
    if (calls > 0) this.#shared.admission.takeRate(visit, calls);
  }

  get #keyNow(): KeyRecord {
    return this.#shared.admission.keys.current(this.#key);
  }

  /** The key as it is now: its plan and its rules may have changed. @throws Failure CLIENT_GONE, as `identifyAgain`. */
  #identify(visit: Visit): KeyRecord {
    if (this.#ended) throw new Failure('CLIENT_GONE');
    return this.#shared.admission.identifyAgain(this.#key.id, this.#ends, visit);
  }

  #refuse(request: SubscribeRequest, thrown: unknown): Failure | RpcError {
    const { method } = request;
    if (thrown instanceof RpcError) {
      this.#meter(request, 'rpcError', null, thrown.code, costOf(method));
      return thrown;
    }
    const failure = explain(thrown);
    const { cause } = failure;
    if (failure.code === 'INTERNAL') {
      this.#shared.log.error({ err: cause, keyId: this.#key.id, method }, 'a subscription went wrong');
    }
    this.#meter(request, statusOfFailure(failure), failure, 0, null);
    return failure;
  }

  #meter(
    { method, params, bytesIn, visit }: SubscribeRequest,
    status: UsageStatus,
    failure: Failure | null,
    rpcCode: number,
    cost: number | null,
  ): void {
    const { product } = this.#key;
    const { network } = this.#ends;
    visit.key ??= this.#key;
    const ended = { wire: 'socket', product, network, method, status, failure, rpcCode } as const;
    this.#shared.meter.end(visit, { ...ended, bytesIn, bytesOut: 0, params, result: null, cost });
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
