import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import type { Logger } from '../../../../src/base/log.ts';
import {
  invalidSubscriptionId,
  parseSubscription,
  parseUnsubscribe,
} from '../../../../src/protocol/pubsub/parse-subscription.ts';
import { configObject, positional, readDataSlice } from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readBoolean } from '../../../../src/protocol/rpc/serde.ts';
import { type SubscriptionKind, subscriptions } from '../../../../src/protocol/subscriptions.ts';
import type { NotificationFrame } from '../../../../src/streams/notification.ts';
import { Outbox } from '../../../../src/streams/outbox.ts';
import { textFrame } from '../../../../src/streams/text-frame.ts';
import { handleRequestBody, type Methods, type RequestOptions } from '../http/handle-request.ts';
import type { LocalNode } from '../node.ts';
import { getVersion } from '../rpc/getVersion.ts';
import type { Subscriber, SubscriptionRegistry } from './subscriptions.ts';

/**
 * Parameters that do not affect notifications, but make separate subscriptions in Agave. Source: agave
 * rpc/src/rpc_subscription_tracker.rs, `AccountSubscriptionParams` and `ProgramSubscriptionParams`.
 * @param params - as parsed by `parseSubscription`.
 */
function distinctParamsOf(kind: SubscriptionKind, params: JsonValue | undefined): string {
  if (kind !== 'account' && kind !== 'program') return '';
  const config = configObject(positional(params, 1, 2)[1], 'RpcAccountInfoConfig');
  const slice = optional(member(config, 'dataSlice'), readDataSlice);
  const withContext = kind === 'program' && optional(member(config, 'withContext'), readBoolean) === true;
  return `${slice === null ? '' : `${slice.offset},${slice.length}`} ${withContext}`;
}

/** Agave's kinds, without `transaction`. */
const kinds = (Object.keys(subscriptions) as SubscriptionKind[]).filter((kind) => kind !== 'transaction');

type Method = (params: JsonValue | undefined) => WritableJson;

/** Source: Agave rpc/src/rpc_pubsub.rs, `RpcSolPubSubInternal`. */
function methodsOf(
  node: LocalNode,
  topics: SubscriptionRegistry,
  subscriber: Subscriber,
  subscriptionIds: Set<number>,
): Methods {
  const subscribe = (kind: SubscriptionKind, params: JsonValue | undefined): number => {
    const id = topics.subscribe(parseSubscription(kind, params), subscriber, distinctParamsOf(kind, params));
    subscriptionIds.add(id);
    return id;
  };
  const unsubscribe = (params: JsonValue | undefined): true => {
    const id = Number(parseUnsubscribe(params));
    if (!subscriptionIds.delete(id)) throw invalidSubscriptionId();
    topics.unsubscribe(id, subscriber);
    return true;
  };
  const methods = new Map<string, Method>([['getVersion', (params) => getVersion(node, params)]]);
  for (const kind of kinds) {
    methods.set(subscriptions[kind].subscribe, (params) => subscribe(kind, params));
    methods.set(subscriptions[kind].unsubscribe, unsubscribe);
  }
  return methods;
}

/** WebSocket close code: invalid data type. */
const INVALID_DATA = 1007;
/** Responses between yields to the event loop. */
const ANSWERS_PER_TURN = 16;

export type ConnectionOptions = Readonly<{
  /** Unanswered messages at which reading pauses. Up to 64 KiB received with the last one are also buffered. */
  unansweredMax: number;
  /** Maximum bytes in the send queue. */
  queueMaxBytes: number;
  log: Logger;
}>;

/** Client connection; messages are answered in order. */
export class PubsubConnection implements Subscriber {
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #topics: SubscriptionRegistry;
  readonly #options: ConnectionOptions;
  readonly #answering: RequestOptions;
  /** Subscription ids. */
  readonly #subscriptionIds = new Set<number>();
  /** Notifications that wait until the response with their subscription id has been sent. */
  readonly #deferred: NotificationFrame[] = [];
  #unanswered: Buffer[] = [];
  #isAnswering = false;
  #isHandling = false;
  #isClosed = false;

  constructor(
    socket: WebSocket,
    stream: Duplex,
    { node, topics }: Readonly<{ node: LocalNode; topics: SubscriptionRegistry }>,
    options: ConnectionOptions,
  ) {
    this.#socket = socket;
    this.#outbox = new Outbox(stream, options, (behind) => this.#disconnect({ behind }));
    this.#topics = topics;
    this.#options = options;
    this.#answering = {
      methods: methodsOf(node, topics, this, this.#subscriptionIds),
      // The size of a batch is limited by the message size.
      batchMaxCalls: Number.MAX_SAFE_INTEGER,
      batchAnswerMaxChars: Number.MAX_SAFE_INTEGER,
      log: options.log,
    };
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('close', () => {
      this.#isClosed = true;
      if (!this.#isHandling) this.#unsubscribeAll();
    });
  }

  notify(id: number, frame: NotificationFrame, last: boolean): void {
    if (last) this.#subscriptionIds.delete(id);
    if (this.#isAnswering) this.#deferred.push(frame);
    else this.#outbox.push(frame);
  }

  /** Flushes and closes. */
  close(code: number): void {
    this.#outbox.finish();
    this.#socket.close(code);
  }

  /** Accepts text and binary messages. */
  #receive(data: Buffer): void {
    if (!isUtf8(data)) {
      this.close(INVALID_DATA);
      return;
    }
    this.#unanswered.push(data);
    if (this.#unanswered.length >= this.#options.unansweredMax) this.#socket.pause();
    if (!this.#isHandling) void this.#handleMessages();
  }

  async #handleMessages(): Promise<void> {
    this.#isHandling = true;
    try {
      while (this.#unanswered.length > 0) await this.#answerEach(this.#unanswered.splice(0));
      if (this.#socket.isPaused) this.#socket.resume();
    } catch (error) {
      this.#options.log.error({ err: error }, 'failed to handle a WebSocket message');
      this.#socket.terminate();
    }
    this.#isHandling = false;
    if (this.#isClosed) this.#unsubscribeAll();
  }

  async #answerEach(messages: readonly Buffer[]): Promise<void> {
    for (const [at, data] of messages.entries()) {
      if (this.#isClosed) return;
      if (at % ANSWERS_PER_TURN === ANSWERS_PER_TURN - 1) await setImmediate();
      await this.#answer(data);
    }
  }

  async #answer(data: Buffer): Promise<void> {
    this.#isAnswering = true;
    const text = (await handleRequestBody(data, this.#answering)).trimEnd();
    if (text !== '') this.#outbox.push(textFrame([Buffer.from(text)]));
    for (const frame of this.#deferred.splice(0)) this.#outbox.push(frame);
    this.#isAnswering = false;
  }

  /** Terminates the connection of a client that does not read, without a close frame, as in Agave. */
  #disconnect(facts: object): void {
    this.#options.log.warn(facts, 'WebSocket client reads too slowly; disconnecting');
    this.#socket.terminate();
  }

  #unsubscribeAll(): void {
    for (const id of this.#subscriptionIds) this.#topics.unsubscribe(id, this);
    this.#subscriptionIds.clear();
  }
}
