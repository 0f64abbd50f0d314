import { parseJson } from '../../base/json.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { Network } from '../../protocol/call.ts';
import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Product } from '../../protocol/product.ts';
import { parseSubscription } from '../../protocol/pubsub/parse-subscription.ts';
import { type Caller, type Outcome, outcomeOf } from '../../protocol/request-handler.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import { type Subscription, subscriptionByMethod, subscriptions } from '../../protocol/subscriptions.ts';
import type { Feed } from '../../streams/feed.ts';
import type { Notification } from '../../streams/notification.ts';
import type {
  Backlog,
  OpenSubscription,
  Session,
  SessionLimits,
  SubscribeOutcome,
  Subscriber,
  WebSocketHandler,
} from '../../streams/session.ts';
import type { LoadedKey } from '../auth/key-state.ts';
import { KeyWatch, type KeyWatchOptions, type UseRejection } from '../auth/key-watch.ts';
import { ConnectionLimit } from '../limits/connection-limit.ts';
import { MessageRateLimiter, type MessageRateOptions } from '../limits/message-rate-limiter.ts';
import { extraCallsFor } from '../limits/rate-limiter.ts';
import {
  emptyRequest,
  logInternalError,
  type RequestContext,
  statusOfFailure,
  toFailure,
} from '../metering/call-meter.ts';
import { NOTIFICATIONS } from '../metering/usage-meter.ts';
import type { UsageStatus } from '../metering/usage-status.ts';
import { CallPipeline, type PipelineParts } from '../pipeline.ts';
import type { ErrorDetail } from '../telemetry/request-result.ts';
import { LiveSession } from './live-session.ts';
import { type SubscriptionLimits, subscriptionLimits } from './subscription-limits.ts';
import { countAddresses, TopicHub, type TopicHubOptions } from './topic-hub.ts';

export type WebSocketGatewayParts = PipelineParts &
  Readonly<{
    feed: Feed;
    /** Absent: connections are counted in this process only. */
    connectionLimit?: ConnectionLimit;
    /** Returns why a connection must end although its key is valid; null: it may stay open. */
    rejection: UseRejection;
  }>;
export type WebSocketGatewayOptions = Readonly<{
  topics?: Partial<TopicHubOptions>;
  keys?: Partial<KeyWatchOptions>;
  messageRate?: Partial<MessageRateOptions>;
  subscriptionLimits?: Partial<SubscriptionLimits>;
}>;

type SharedParts = PipelineParts &
  Readonly<{
    topics: TopicHub;
    connectionLimit: ConnectionLimit;
    subscriptions: ConnectionLimit;
    addresses: ConnectionLimit;
    subscriptionLimits: SubscriptionLimits;
    watch: KeyWatch;
    messageLimiter: MessageRateLimiter;
    pipeline: CallPipeline;
  }>;

export class WebSocketGateway implements WebSocketHandler {
  readonly #shared: SharedParts;

  constructor({ feed, rejection, ...parts }: WebSocketGatewayParts, options: WebSocketGatewayOptions = {}) {
    this.#shared = {
      ...parts,
      topics: new TopicHub(feed, options.topics),
      connectionLimit: parts.connectionLimit ?? new ConnectionLimit(),
      subscriptions: new ConnectionLimit(),
      addresses: new ConnectionLimit(),
      subscriptionLimits: withDefaults(subscriptionLimits, options.subscriptionLimits),
      watch: new KeyWatch(parts.admission.keys, { ...options.keys, rejection }),
      messageLimiter: new MessageRateLimiter(options.messageRate),
      pipeline: new CallPipeline(parts, 'socket'),
    };
  }

  get topics(): number {
    return this.#shared.topics.size;
  }

  connect(caller: Caller, product: Product, network: Network, onEnd: (failure: Failure) => void): Session {
    const { admission, meter, log } = this.#shared;
    const { client, session = null } = caller;
    const context = meter.startRequest(client, caller.traceparent);
    try {
      const key = admission.authenticate(caller, product, network, context);
      admission.authorize(context, null);
      admission.consumeRate(context);
      this.#acquireConnection(key);
      return new WebSocketSession(this.#shared, key, { client, network, session }, onEnd);
    } catch (thrown) {
      const failure = toFailure(thrown);
      logInternalError(log, failure, { wire: 'socket' });
      // Metered as `rest`: the rejection is sent as the HTTP response to the upgrade request.
      const rejected = { status: statusOfFailure(failure), failure };
      meter.endRequest(context, { ...emptyRequest, ...rejected, wire: 'rest', product, network });
      throw failure;
    }
  }

  /** All sessions must be closed first. */
  close(): void {
    this.#shared.topics.close();
    this.#shared.watch.close();
  }

  #acquireConnection({ familyId, limits }: LoadedKey): void {
    const { wsConnectionsMax: connectionsMax } = limits;
    if (this.#shared.connectionLimit.tryAcquire(familyId, connectionsMax)) return;
    throw new Failure('CONNECTION_LIMIT', { facts: { connectionsMax } });
  }
}

type SubscribeRequest = Readonly<{
  method: string;
  params: Buffer | null;
  bytesIn: number;
  context: RequestContext;
}>;

type SessionScope = Readonly<{ client: ClientInfo; network: Network; session: string | null }>;

class WebSocketSession implements Session {
  readonly #shared: SharedParts;
  /** The key as it was when the connection opened. Its owner never changes, but its plan may. */
  readonly #key: LoadedKey;
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

  constructor(shared: SharedParts, key: LoadedKey, scope: SessionScope, onEnd: (failure: Failure) => void) {
    this.#shared = shared;
    this.#key = key;
    this.#scope = scope;
    this.#unwatch = shared.watch.watch(key, scope, onEnd);
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
    const { network, session, client } = this.#scope;
    const from = { credential: null, client, session, product, network };
    const request = { ...from, method, params, bytesIn, idBytes };
    const { pipeline } = this.#shared;
    return outcomeOf((responder) => pipeline.dispatch(request, responder, this.#startRequest()), signal);
  }

  recordInvalidRequest(fault: Failure | null, bytesIn: number, idBytes: number | null): Failure | null {
    const { product } = this.#key;
    const { network, client } = this.#scope;
    const invalidRequest = { credential: null, client, product, network, fault, bytesIn, idBytes };
    return this.#shared.pipeline.recordInvalidRequest(invalidRequest, this.#startRequest()).failure;
  }

  async subscribe(
    method: string,
    params: Buffer | null,
    bytesIn: number,
    subscriber: Subscriber,
  ): Promise<SubscribeOutcome> {
    const context = this.#startRequest();
    const request = { method, params, bytesIn, context };
    const entry = new SessionSubscription(subscriber, this.#release);
    try {
      this.#admit(entry, request);
      const subscription = parse(method, params);
      entry.subscription = subscription;
      this.#reserveAddresses(entry, countAddresses(subscription), context);
      entry.opened = await this.#shared.topics.join(subscription, entry);
      // The connection may have ended while the topic was being joined.
      if (this.#ended) throw new Failure('CLIENT_GONE');
      this.#meter(request, 'ok', null, 0, subscriptions[subscription.kind].credits);
      return { opened: entry, error: null };
    } catch (thrown) {
      entry.close();
      return { opened: null, error: this.#recordRejection(request, thrown, entry.subscription !== null) };
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
    const { network } = this.#scope;
    const sent = { key, product, method: NOTIFICATIONS, network, messages, bytesOut: bytes };
    this.#shared.meter.recordMessages(sent);
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

  /** Uses the current record of the key, because its plan and rules may have changed. */
  #startRequest(): RequestContext {
    const { admission, meter } = this.#shared;
    const context = meter.startRequest(this.#scope.client);
    try {
      if (this.#ended) throw new Failure('CLIENT_GONE');
      admission.reauthenticate(this.#key.id, this.#scope, context);
    } catch (thrown) {
      context.rejection = toFailure(thrown);
    }
    return context;
  }

  /** @throws Failure SUBSCRIPTION_LIMIT, or a failure that can also reject a call. */
  #admit(entry: SessionSubscription, { method, context }: SubscribeRequest): void {
    const { admission, subscriptions: open, subscriptionLimits: familyLimits } = this.#shared;
    if (context.rejection !== null) throw context.rejection;
    admission.authorize(context, method, costOf(method));
    admission.consumeRate(context);
    const { familyId, limits } = context.key ?? this.#key;
    const { wsSubscriptionsMax: subscriptionsMax } = limits;
    if (this.#open.size >= subscriptionsMax) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { subscriptionsMax } });
    }
    const { keySubscriptionsMax } = familyLimits;
    if (!open.tryAcquire(familyId, keySubscriptionsMax)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keySubscriptionsMax } });
    }
    this.#open.add(entry);
  }

  #reserveAddresses(entry: SessionSubscription, addresses: number, context: RequestContext): void {
    const { familyId } = this.#key;
    const { keyAddressesMax } = this.#shared.subscriptionLimits;
    if (!this.#shared.addresses.tryAcquire(familyId, keyAddressesMax, addresses)) {
      throw new Failure('SUBSCRIPTION_LIMIT', { facts: { keyAddressesMax } });
    }
    entry.addresses = addresses;
    const calls = extraCallsFor(addresses);
    if (calls > 0) this.#shared.admission.consumeRate(context, calls);
  }

  get #currentKey(): LoadedKey {
    return this.#shared.admission.keys.current(this.#key);
  }

  /** @param isParsed - whether the params were valid, so that an RpcError comes from a node. */
  #recordRejection(request: SubscribeRequest, thrown: unknown, isParsed: boolean): Failure | RpcError {
    const { method } = request;
    if (thrown instanceof RpcError) {
      const { code, message, attempts } = thrown;
      const status = isParsed ? 'rpcError' : 'client';
      this.#meter(request, status, null, code, costOf(method), { message, attempts });
      return thrown;
    }
    const failure = toFailure(thrown);
    logInternalError(this.#shared.log, failure, { keyId: this.#key.id, method });
    this.#meter(request, statusOfFailure(failure), failure, 0, null);
    return failure;
  }

  #meter(
    { method, params, bytesIn, context }: SubscribeRequest,
    status: UsageStatus,
    failure: Failure | null,
    rpcCode: number,
    credits: number | null,
    detail: ErrorDetail | null = null,
  ): void {
    const { product } = this.#key;
    const { network } = this.#scope;
    context.key ??= this.#key;
    const ended = { wire: 'socket', product, network, method, status, failure, rpcCode } as const;
    const facts = { bytesIn, bytesOut: 0, params, result: null, credits, detail };
    this.#shared.meter.endRequest(context, { ...ended, ...facts });
  }
}

/** Subscription of a session. Counts against the subscription limits until it ends. */
export class SessionSubscription implements OpenSubscription, Subscriber {
  opened: OpenSubscription | null = null;
  readonly #subscriber: Subscriber;
  readonly #release: (entry: SessionSubscription) => void;
  /** Null until the parameters are parsed. */
  subscription: Subscription | null = null;
  addresses = 0;

  constructor(subscriber: Subscriber, release: (entry: SessionSubscription) => void) {
    this.#subscriber = subscriber;
    this.#release = release;
  }

  onNotification(notification: Notification, isLast: boolean): void {
    if (isLast) this.#release(this);
    this.#subscriber.onNotification(notification, isLast);
  }

  onError(failure: Failure): void {
    this.#release(this);
    this.#subscriber.onError(failure);
  }

  start(): void {
    this.opened?.start();
  }

  close(): void {
    this.#release(this);
    this.opened?.close();
  }
}

const costOf = (method: string): number => {
  const kind = subscriptionByMethod(method)?.kind;
  return kind === undefined ? 0 : subscriptions[kind].credits;
};

function parse(method: string, params: Buffer | null): Subscription {
  const match = subscriptionByMethod(method);
  if (match?.action !== 'subscribe') throw new RpcError(-32601, 'Method not found');
  return parseSubscription(match.kind, params === null ? undefined : parseJson(params.toString('utf8')));
}
