import { parseJson } from '../../base/json.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Network } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Product } from '../../protocol/product.ts';
import { parseSubscription } from '../../protocol/pubsub/parse-subscription.ts';
import { subscriptionByMethod } from '../../protocol/pubsub/subscription-method.ts';
import type { Caller, ClientInfo, Outcome } from '../../protocol/request-handler.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { type Subscription, subscriptions } from '../../protocol/subscriptions.ts';
import type { Feed } from '../../streams/feed.ts';
import type {
  Backlog,
  Session,
  SessionLimits,
  SubscribeOutcome,
  Subscriber,
  WebSocketHandler,
} from '../../streams/session.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import { KeyWatch, type KeyWatchOptions, type UseRefusal } from '../auth/key-watch.ts';
import { CallHandler } from '../call-handler.ts';
import { emptyRequest, recordInvalidRequest } from '../invalid-request.ts';
import { callsForAddresses, countAddresses } from '../limits/address-cost.ts';
import { ConnectionLimit } from '../limits/connection-limit.ts';
import { MessageRateLimiter, type MessageRateOptions } from '../limits/message-rate-limiter.ts';
import { NOTIFICATIONS, type UsageStatus } from '../metering/usage-meter.ts';
import { statusOfFailure, toFailure } from '../outcome.ts';
import type { PipelineParts } from '../pipeline.ts';
import type { RequestContext } from '../request-context.ts';
import { LiveSession } from './live-session.ts';
import { SessionSubscription, type SubscriptionLimits, subscriptionLimits } from './subscription-limits.ts';
import { TopicHub, type TopicHubOptions } from './topic-hub.ts';

export type WebSocketGatewayParts = PipelineParts &
  Readonly<{
    feed: Feed;
    /** Places of connections, where others hold such too. */
    connectionLimit?: ConnectionLimit;
    /** Why a connection ends though its key is good. */
    refusal: UseRefusal;
  }>;
export type WebSocketGatewayOptions = Readonly<{
  topics?: Partial<TopicHubOptions>;
  keys?: Partial<Omit<KeyWatchOptions, 'refusal'>>;
  messageRate?: Partial<MessageRateOptions>;
  subscriptionLimits?: Partial<SubscriptionLimits>;
}>;

/** What the sessions of a gate have in common. */
type SharedParts = PipelineParts &
  Readonly<{
    topics: TopicHub;
    connectionLimit: ConnectionLimit;
    subscriptions: ConnectionLimit;
    addresses: ConnectionLimit;
    subscriptionLimits: SubscriptionLimits;
    watch: KeyWatch;
    messageLimiter: MessageRateLimiter;
    callHandler: CallHandler;
  }>;

/** The way of long connections: a key and a place for each, then calls and subscriptions within its plan. */
export class WebSocketGateway implements WebSocketHandler {
  readonly #shared: SharedParts;

  constructor({ feed, refusal, ...parts }: WebSocketGatewayParts, options: WebSocketGatewayOptions = {}) {
    this.#shared = {
      ...parts,
      topics: new TopicHub(feed, options.topics),
      connectionLimit: parts.connectionLimit ?? new ConnectionLimit(),
      subscriptions: new ConnectionLimit(),
      addresses: new ConnectionLimit(),
      subscriptionLimits: withDefaults(subscriptionLimits, options.subscriptionLimits),
      watch: new KeyWatch(parts.admission.keys, { ...options.keys, refusal }),
      messageLimiter: new MessageRateLimiter(options.messageRate),
      callHandler: new CallHandler(parts, 'socket'),
    };
  }

  /** Different subscriptions that are open. */
  get topics(): number {
    return this.#shared.topics.size;
  }

  connect(caller: Caller, product: Product, network: Network, onEnd: (failure: Failure) => void): Session {
    const { admission, meter, log } = this.#shared;
    const context = meter.startRequest(caller.client, caller.traceparent);
    try {
      const key = admission.authenticate(caller, product, network, context);
      admission.authorize(context, null);
      admission.consumeRate(context);
      this.#acquireConnection(key);
      return new WebSocketSession(this.#shared, key, scopeOf(caller, network), onEnd);
    } catch (thrown) {
      const failure = toFailure(thrown);
      if (failure.code === 'INTERNAL') log.error({ err: failure.cause }, 'a connection could not be begun');
      // Refused in HTTP, before the socket leaves it.
      const refused = { status: statusOfFailure(failure), failure };
      meter.endRequest(context, { ...emptyRequest, ...refused, wire: 'rest', product, network });
      throw failure;
    }
  }

  /** Ends every subscription and watch. Sessions are closed before. */
  close(): void {
    this.#shared.topics.close();
    this.#shared.watch.close();
  }

  /** @throws Failure CONNECTION_LIMIT. */
  #acquireConnection({ familyId, limits }: KeyRecord): void {
    const { wsConnectionsMax: connectionsMax } = limits;
    if (this.#shared.connectionLimit.tryAcquire(familyId, connectionsMax)) return;
    throw new Failure('CONNECTION_LIMIT', { facts: { connectionsMax } });
  }
}

/** A request to subscribe, for metering. */
type SubscribeRequest = Readonly<{
  method: string;
  params: Buffer | null;
  bytesIn: number;
  context: RequestContext;
}>;

/** Where a connection came from, where its calls go, and the session that they are of; null: none. */
type SessionScope = Readonly<{ client: ClientInfo; network: Network; session: string | null }>;

const scopeOf = ({ client, session }: Caller, network: Network): SessionScope => ({
  ...{ client, network, session: session ?? null },
});

class WebSocketSession implements Session {
  readonly #shared: SharedParts;
  /** As it was when the connection began: whose it is does not change, and its plan may. */
  readonly #key: KeyRecord;
  readonly #scope: SessionScope;
  readonly #unwatch: () => void;
  /** Subscriptions that are open or being opened. */
  readonly #open = new Set<SessionSubscription>();
  readonly #release = (entry: SessionSubscription): void => {
    if (!this.#open.delete(entry)) return;
    const { familyId } = this.#key;
    if (entry.addresses > 0) this.#shared.addresses.release(familyId, entry.addresses);
    this.#shared.subscriptions.release(familyId);
  };
  readonly #live: LiveSession;
  readonly #unregister: (() => void) | undefined;
  #ended = false;
  #closed = false;

  constructor(shared: SharedParts, key: KeyRecord, scope: SessionScope, onEnd: (failure: Failure) => void) {
    this.#shared = shared;
    this.#key = key;
    this.#scope = scope;
    this.#unwatch = shared.watch.watch(key.id, scope, onEnd);
    this.#live = new LiveSession(key, scope.client.address, this.#open, onEnd);
    this.#unregister = shared.connections?.add(this.#live);
  }

  get limits(): SessionLimits {
    const { wsSubscriptionsMax, wsMessageMaxBytes } = this.#currentKey.limits;
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
    const { client, network, session } = this.#scope;
    const request = { product, network, method, params, bytesIn, idBytes, session };
    const { callHandler, meter } = this.#shared;
    return callHandler.execute(
      meter.startRequest(client),
      (context) => this.#authenticate(context),
      request,
      signal,
    );
  }

  recordInvalidRequest(fault: Failure | null, bytesIn: number, idBytes: number | null): Failure | null {
    const context = this.#shared.meter.startRequest(this.#scope.client);
    const invalidRequest = {
      product: this.#key.product,
      network: this.#scope.network,
      fault,
      bytesIn,
      idBytes,
    };
    return recordInvalidRequest(
      this.#shared,
      'socket',
      context,
      (target) => this.#authenticate(target),
      invalidRequest,
    );
  }

  async subscribe(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    subscriber: Subscriber,
  ): Promise<SubscribeOutcome> {
    const context = this.#shared.meter.startRequest(this.#scope.client);
    const request = { method, params, bytesIn, context };
    const entry = new SessionSubscription(subscriber, this.#release);
    try {
      this.#admit(entry, request);
      const subscription = parse(method, params);
      entry.subscription = subscription;
      this.#reserveAddresses(entry, countAddresses(subscription), context);
      entry.opened = await this.#shared.topics.join(subscription, entry);
      // The connection may have ended meanwhile, with its key or its client.
      if (this.#ended) throw new Failure('CLIENT_GONE');
      this.#meter(request, 'ok', null, 0, subscriptions[subscription.kind].cost);
      return { opened: entry, error: null };
    } catch (thrown) {
      entry.close();
      return { opened: null, error: this.#refuse(request, thrown) };
    }
  }

  recordReceived(messages: number, bytes: number): number {
    const { familyId, limits } = this.#currentKey;
    return this.#shared.messageLimiter.consume(familyId, limits, messages, bytes, performance.now());
  }

  recordSent(messages: number, bytes: number): void {
    const key = this.#currentKey;
    const { product } = key;
    this.#live.messages += messages;
    this.#live.bytes += bytes;
    this.#shared.meter.recordMessages({ key, product, method: NOTIFICATIONS, messages, bytesOut: bytes });
  }

  setBacklog(backlog: Backlog): void {
    this.#live.backlog = backlog;
  }

  recordLagged(): void {
    this.#shared.connections?.recordLagged(this.#key.customerId, Date.now());
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    for (const entry of this.#open) entry.close();
  }

  close(): void {
    this.end();
    if (this.#closed) return;
    this.#closed = true;
    this.#unregister?.();
    this.#shared.connectionLimit.release(this.#key.familyId);
  }

  /** @throws Failure as of a call, SUBSCRIPTION_LIMIT. */
  #admit(entry: SessionSubscription, { method, context }: SubscribeRequest): void {
    const { familyId, limits } = this.#authenticate(context);
    this.#shared.admission.authorize(context, method, costOf(method));
    this.#shared.admission.consumeRate(context);
    const { wsSubscriptionsMax: subscriptionsMax } = limits;
    if (this.#open.size >= subscriptionsMax) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { subscriptionsMax } });
    }
    const { keySubscriptionsMax } = this.#shared.subscriptionLimits;
    if (!this.#shared.subscriptions.tryAcquire(familyId, keySubscriptionsMax)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keySubscriptionsMax } });
    }
    this.#open.add(entry);
  }

  /** @throws Failure SUBSCRIPTION_LIMIT, RATE_LIMITED. */
  #reserveAddresses(entry: SessionSubscription, addresses: number, context: RequestContext): void {
    const { familyId } = this.#key;
    const { keyAddressesMax } = this.#shared.subscriptionLimits;
    if (!this.#shared.addresses.tryAcquire(familyId, keyAddressesMax, addresses)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keyAddressesMax } });
    }
    entry.addresses = addresses;
    const calls = callsForAddresses(addresses);
    if (calls > 0) this.#shared.admission.consumeRate(context, calls);
  }

  get #currentKey(): KeyRecord {
    return this.#shared.admission.keys.current(this.#key);
  }

  /** The key as it is now: its plan and its rules may have changed. @throws Failure CLIENT_GONE, as `identifyAgain`. */
  #authenticate(context: RequestContext): KeyRecord {
    if (this.#ended) throw new Failure('CLIENT_GONE');
    return this.#shared.admission.reauthenticate(this.#key.id, this.#scope, context);
  }

  #refuse(request: SubscribeRequest, thrown: unknown): Failure | RpcError {
    const { method } = request;
    if (thrown instanceof RpcError) {
      this.#meter(request, 'rpcError', null, thrown.code, costOf(method));
      return thrown;
    }
    const failure = toFailure(thrown);
    const { cause } = failure;
    if (failure.code === 'INTERNAL') {
      this.#shared.log.error({ err: cause, keyId: this.#key.id, method }, 'a subscription went wrong');
    }
    this.#meter(request, statusOfFailure(failure), failure, 0, null);
    return failure;
  }

  #meter(
    { method, params, bytesIn, context }: SubscribeRequest,
    status: UsageStatus,
    failure: Failure | null,
    rpcCode: number,
    cost: number | null,
  ): void {
    const { product } = this.#key;
    const { network } = this.#scope;
    context.key ??= this.#key;
    const ended = { wire: 'socket', product, network, method, status, failure, rpcCode } as const;
    this.#shared.meter.endRequest(context, { ...ended, bytesIn, bytesOut: 0, params, result: null, cost });
  }
}

const costOf = (method: string): number => {
  const kind = subscriptionByMethod(method)?.kind;
  return kind === undefined ? 0 : subscriptions[kind].cost;
};

/** @throws RpcError -32601, -32602. */
function parse(method: string, params: Buffer | null): Subscription {
  const match = subscriptionByMethod(method);
  if (match?.action !== 'subscribe') throw new RpcError(-32601, 'Method not found');
  return parseSubscription(match.kind, params === null ? undefined : parseJson(params.toString('utf8')));
}
