import { parseJson, type WritableJson } from '../../base/json.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import { subscriptions } from '../../protocol/subscriptions.ts';
import { nextRequestId, requestBody } from '../request-body.ts';
import { type NodeMessage, type NodeSubscriptionId, subscriptionId } from './pubsub-message.ts';

/** Whoever hears what a node tells of one subscription. */
export interface UpstreamSink {
  /** @param result - raw `params.result`, a view of what was received. */
  notify(result: Buffer): void;
  /** The connection is gone: nothing more comes of this subscription. */
  lost(): void;
}

/** What a node is asked to tell. Equal requests on one connection share one stream, as nodes have it. */
export type UpstreamRequest = Readonly<{ kind: SubscriptionKind; params: Buffer }>;

/** What came of a request to subscribe. */
export type SubscribeAnswer = Readonly<
  | { kind: 'opened'; close: () => void }
  /** The node's own words. */
  | { kind: 'refused'; error: RpcError }
  /** No acknowledgement in time, or one that must not be shown. */
  | { kind: 'unanswered' }
  /** The connection is gone. */
  | { kind: 'gone' }
>;

type Entry = {
  readonly key: string;
  readonly request: UpstreamRequest;
  readonly sinks: Set<UpstreamSink>;
  /** Asked for and not yet acknowledged. */
  readonly waiting: ((answer: SubscribeAnswer) => void)[];
  id: NodeSubscriptionId | null;
  timer: NodeJS.Timeout | null;
};

export type NodeSubscriptionsOptions = Readonly<{
  send: (request: Buffer) => void;
  ackTimeoutMs: number;
  /** Whether the bytes name the node or a key of its. */
  reveals: (bytes: Buffer) => boolean;
  /** Whether a node in its senses may tell this now; a notification of which it may not is dropped. */
  isCredible: (kind: SubscriptionKind, result: Buffer) => boolean;
  /** The node gave one id to two streams, which cannot be told apart any more. */
  onDoubledId: () => void;
}>;

/** Requests without an acknowledgement in time that are remembered. */
const OVERDUE_MAX = 1_000;

function rpcError(body: Buffer): RpcError {
  const { code, message, data } = parseJson(body.toString('utf8')) as Record<string, WritableJson>;
  return new RpcError(Number(code), typeof message === 'string' ? message : '', data);
}

/** The subscriptions of one connection: asked for, acknowledged by the request's id, routed by the node's id. */
export class NodeSubscriptions {
  readonly #options: NodeSubscriptionsOptions;
  readonly #byKey = new Map<string, Entry>();
  readonly #byRequest = new Map<number, Entry>();
  /** Requests whose acknowledgement may still come, and is then given back. */
  readonly #overdue: number[] = [];
  readonly #byId = new Map<NodeSubscriptionId, Entry>();

  constructor(options: NodeSubscriptionsOptions) {
    this.#options = options;
  }

  /** Streams that are open or asked for. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Asks for a subscription, or joins an equal one. The sink may hear before the promise is kept. */
  subscribe(request: UpstreamRequest, sink: UpstreamSink): Promise<SubscribeAnswer> {
    const key = `${request.kind} ${request.params.toString('latin1')}`;
    const entry = this.#byKey.get(key) ?? this.#ask(key, request);
    entry.sinks.add(sink);
    return new Promise((resolve) => {
      const settle = (answer: SubscribeAnswer): void => {
        if (answer.kind === 'opened') resolve({ kind: 'opened', close: () => this.#leave(entry, sink) });
        else resolve(answer);
      };
      if (entry.id === null) entry.waiting.push(settle);
      else settle({ kind: 'opened', close: () => {} });
    });
  }

  /** Takes one message of the node. */
  take(message: NodeMessage): void {
    if (message.kind === 'answer') {
      this.#answered(message);
      return;
    }
    const entry = this.#byId.get(message.id);
    // Told of an id that was given back: the node had sent it before it read that.
    if (entry === undefined || !this.#options.isCredible(entry.request.kind, message.result)) return;
    for (const sink of entry.sinks) sink.notify(message.result);
  }

  /** The node ended a subscription by itself, as with a signature: its id is nobody's any more. */
  ended(request: UpstreamRequest): void {
    const entry = this.#byKey.get(`${request.kind} ${request.params.toString('latin1')}`);
    if (entry !== undefined) this.#forget(entry);
  }

  /** The connection is gone: everybody is told, once. */
  lose(): void {
    const entries = [...this.#byKey.values()];
    this.#byKey.clear();
    this.#byRequest.clear();
    this.#byId.clear();
    for (const entry of entries) {
      this.#settle(entry, { kind: 'gone' });
      const sinks = [...entry.sinks];
      entry.sinks.clear();
      for (const sink of sinks) sink.lost();
    }
  }

  #ask(key: string, request: UpstreamRequest): Entry {
    const id = nextRequestId();
    const entry: Entry = { key, request, sinks: new Set(), waiting: [], id: null, timer: null };
    this.#byKey.set(key, entry);
    this.#byRequest.set(id, entry);
    entry.timer = setTimeout(() => this.#unanswered(id, entry), this.#options.ackTimeoutMs);
    this.#options.send(requestBody(id, subscriptions[request.kind].subscribe, request.params));
    return entry;
  }

  #answered({ id, body, errorCode }: Extract<NodeMessage, { kind: 'answer' }>): void {
    const entry = this.#byRequest.get(id);
    if (entry === undefined) return;
    this.#byRequest.delete(id);
    if (errorCode !== 0) this.#refused(entry, body);
    else this.#acknowledged(entry, subscriptionId(body));
  }

  #acknowledged(entry: Entry, id: NodeSubscriptionId): void {
    const holder = this.#byId.get(id);
    const isAwaited = entry.sinks.size > 0;
    if (holder !== undefined && (isAwaited || holder.key !== entry.key)) this.#options.onDoubledId();
    else if (!isAwaited) this.#giveBack(entry, id);
    else {
      entry.id = id;
      this.#byId.set(id, entry);
      this.#settle(entry, { kind: 'opened', close: () => {} });
    }
  }

  /** It came too late. Nodes such as Agave give equal streams one id: then it ends with the one asked for since. */
  #giveBack({ key, request }: Entry, id: NodeSubscriptionId): void {
    if (!this.#byKey.has(key)) this.#unsubscribe(request.kind, id);
  }

  #refused(entry: Entry, body: Buffer): void {
    this.#forget(entry);
    entry.sinks.clear();
    const revealing = this.#options.reveals(body);
    this.#settle(entry, revealing ? { kind: 'unanswered' } : { kind: 'refused', error: rpcError(body) });
  }

  #unanswered(id: number, entry: Entry): void {
    this.#overdue.push(id);
    if (this.#overdue.length > OVERDUE_MAX) this.#byRequest.delete(this.#overdue.shift()!);
    this.#forget(entry);
    entry.sinks.clear();
    this.#settle(entry, { kind: 'unanswered' });
  }

  #settle(entry: Entry, answer: SubscribeAnswer): void {
    if (entry.timer !== null) clearTimeout(entry.timer);
    entry.timer = null;
    for (const settle of entry.waiting.splice(0)) settle(answer);
  }

  #leave(entry: Entry, sink: UpstreamSink): void {
    if (!entry.sinks.delete(sink) || entry.sinks.size > 0 || this.#byKey.get(entry.key) !== entry) return;
    this.#forget(entry);
    if (entry.id !== null) this.#unsubscribe(entry.request.kind, entry.id);
  }

  #forget(entry: Entry): void {
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key);
    if (entry.id !== null && this.#byId.get(entry.id) === entry) this.#byId.delete(entry.id);
  }

  #unsubscribe(kind: SubscriptionKind, id: NodeSubscriptionId): void {
    const params = Buffer.from(`[${id}]`);
    this.#options.send(requestBody(nextRequestId(), subscriptions[kind].unsubscribe, params));
  }
}
