import type { Call, Network, RpcResponse } from '../protocol/call.ts';
import { methodTraits } from '../protocol/methods.ts';
import { nodeErrorRow } from '../protocol/node-errors.ts';
import type { StreamedResponse } from '../protocol/streamed-response.ts';
import { cachePolicy } from './cache/cache-policy.ts';
import type { BodyFlow, BodyListener, Exchange, NodeRequest, PendingRequest } from './exchange.ts';
import type { UpstreamNode } from './node.ts';
import type { Outcome, PreflightFault } from './outcome.ts';
import { nextRequestId } from './request-body.ts';
import { locateResponse } from './response/parse-response.ts';
import { PassthroughResponse, type StreamEnd, type StreamListener } from './response/passthrough-response.ts';
import { parseRetryAfter } from './retry-after.ts';

/** Some proxies send the node's own error with one of these instead of 200. */
const mayCarryRpcError = (status: number): boolean => status === 400 || status >= 500;
const FAULT_OF_ERR: ReadonlyMap<string, PreflightFault> = new Map([
  ['BlockhashNotFound', 'blockhash-not-found'],
  ['AlreadyProcessed', 'already-processed'],
]);

/** What stopped a preflight, from `error.data.err` or else from Agave's text. */
export function preflightFault(response: RpcResponse): PreflightFault | null {
  if (!nodeErrorRow(response.errorCode).preflight) return null;
  const error = JSON.parse(response.body.toString('utf8')) as {
    message?: unknown;
    data?: { err?: unknown } | null;
  };
  const err = error.data?.err;
  if (typeof err === 'string') return FAULT_OF_ERR.get(err) ?? null;
  const { message } = error;
  if (typeof message !== 'string') return null;
  if (message.endsWith('Blockhash not found')) return 'blockhash-not-found';
  return message.endsWith('This transaction has already been processed') ? 'already-processed' : null;
}

type HttpResponse = Extract<Exchange, { kind: 'response' }>;

function outcomeOfResponse(
  node: UpstreamNode,
  httpResponse: HttpResponse,
  id: number,
  isExclusive: boolean,
): Outcome {
  const { status, body } = httpResponse;
  const retryAfterMs = parseRetryAfter(httpResponse.retryAfter, Date.now());
  const mayCarry = status === 200 || mayCarryRpcError(status);
  const response = mayCarry ? locateResponse(body, id, isExclusive) : null;
  const error = response === null ? null : nodeErrorRow(response.errorCode);
  if (status !== 200 && error?.standard !== true) {
    return { kind: 'status', status, retryAfterMs };
  }
  if (response === null) return { kind: 'garbage' };
  if (error?.rule === 'throttled') return { kind: 'status', status: 429, retryAfterMs };
  if (response.errorCode !== 0 && node.leaksSecret(response.body)) return { kind: 'withheld' };
  return { kind: 'answer', response, preflight: preflightFault(response) };
}

function withoutCause(exchange: Exclude<Exchange, HttpResponse>): Outcome {
  if (exchange.kind !== 'transport') return exchange;
  return { kind: 'transport', wasSent: exchange.wasSent, timedOut: exchange.timedOut };
}

/** An attempt that has ended, and how long it took. */
export type AttemptResult = Readonly<{ outcome: Outcome; elapsedMs: number }>;

/** Hears how an attempt ended, once; maybe before it was begun. Must not throw. */
export interface AttemptListener {
  onOutcome(outcome: Outcome, elapsedMs: number): void;
  /** Takes a long result while it comes. Looked at when one begins to. */
  readonly acceptsStream?: boolean;
  /** The attempt has come to a long result, which has begun. In place of `attempted`, where `takesLong`. */
  onStream?(response: StreamedResponse, elapsedMs: number): void;
}

/** One request to one node, from its bytes to what they mean. */
class Attempt implements NodeRequest, StreamListener {
  readonly id = nextRequestId();
  readonly method: string;
  readonly params: Buffer | null;
  readonly canPipeline: boolean;
  readonly #node: UpstreamNode;
  readonly #listener: AttemptListener;
  readonly #startedAt: number;

  constructor(node: UpstreamNode, { method, params, row }: Call, listener: AttemptListener, now: number) {
    const { hasEffect, takesAllTheTime } = methodTraits[row.kind];
    this.method = method;
    this.params = params;
    this.canPipeline = !hasEffect && !takesAllTheTime;
    this.#node = node;
    this.#listener = listener;
    this.#startedAt = now;
  }

  get acceptsStream(): boolean {
    return this.#listener.acceptsStream === true;
  }

  get network(): Network {
    return this.#node.network;
  }

  get responseMaxBytes(): number {
    return this.#node.answerMaxBytes;
  }

  send(timeoutMs: number): PendingRequest {
    this.#node.onRequestStart();
    return this.#node.send(this, this.#startedAt + timeoutMs, this.#startedAt);
  }

  onExchange(exchange: Exchange): boolean {
    this.#node.onRequestEnd();
    const outcome = exchange.kind === 'response' ? this.#outcomeOf(exchange) : withoutCause(exchange);
    this.#listener.onOutcome(outcome, performance.now() - this.#startedAt);
    return outcome.kind !== 'garbage';
  }

  /** Its answer goes to one caller, as it comes: nobody else has it, and it is not kept. */
  get #isExclusive(): boolean {
    return this.acceptsStream && cachePolicy(this.method).ttl === 'never';
  }

  /** What cannot be read is no answer, whatever it is that broke over it. */
  #outcomeOf(httpResponse: HttpResponse): Outcome {
    try {
      return outcomeOfResponse(this.#node, httpResponse, this.id, this.#isExclusive);
    } catch {
      return { kind: 'garbage' };
    }
  }

  onStreamStart(start: Buffer, bytes: number | null, flow: BodyFlow): BodyListener | null {
    if (!PassthroughResponse.canStream(start)) return null;
    const response = new PassthroughResponse(start, bytes, this.id, flow, this);
    this.#listener.onStream?.(response, performance.now() - this.#startedAt);
    return response;
  }

  onStreamEnd(end: StreamEnd): void {
    this.#node.onRequestEnd();
    // Its beginning was learnt as an answer.
    if (end === 'garbage') this.#node.recordOutcome({ kind: 'garbage' }, null);
    if (end === 'lost') this.#node.recordOutcome({ kind: 'transport', wasSent: true, timedOut: false }, null);
  }
}

/**
 * Puts the call to one node, once, and leaves the learning to whoever hears of it.
 * @param now - `performance.now()`, in this turn of the event loop.
 */
export const sendAttempt = (
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  listener: AttemptListener,
  now = performance.now(),
): PendingRequest => new Attempt(node, call, listener, now).send(timeoutMs);

/** The same as a promise, which never rejects. */
export function attempt(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  if (signal?.aborted === true) {
    resolve({ outcome: { kind: 'aborted', wasSent: false }, elapsedMs: 0 });
    return promise;
  }
  const pending = sendAttempt(node, call, timeoutMs, {
    onOutcome: (outcome, elapsedMs) => resolve({ outcome, elapsedMs }),
  });
  if (signal === undefined) return promise;
  const abort = (): void => pending.abort();
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
