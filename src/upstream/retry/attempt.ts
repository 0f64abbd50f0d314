import type { Call, Network, RpcResponse } from '../../protocol/call.ts';
import type { CallAttempt } from '../../protocol/errors.ts';
import { type MethodRow, methodTraits } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { StreamedResponse } from '../../protocol/streamed-response.ts';
import type { BodyFlow, BodyListener, Exchange, NodeRequest, PendingRequest } from '../exchange.ts';
import { policiesByRow } from '../middleware/cache-policy.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome, PreflightFault } from '../outcome.ts';
import { nextRequestId } from '../request-body.ts';
import { locateResponse, SCAN_ALWAYS_MAX_BYTES } from '../response/parse-response.ts';
import {
  PassthroughResponse,
  type StreamEnd,
  type StreamListener,
} from '../response/passthrough-response.ts';
import { parseRetryAfter } from '../retry-after.ts';

/** Some proxies send JSON-RPC errors with one of these statuses instead of 200. */
const mayCarryRpcError = (status: number): boolean => status === 400 || status >= 500;
const FAULT_OF_ERR: ReadonlyMap<string, PreflightFault> = new Map([
  ['BlockhashNotFound', 'blockhash-not-found'],
  ['AlreadyProcessed', 'already-processed'],
]);

/** Reads `error.data.err` or, if that is not a string, Agave's message. */
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

export type AttemptResult = Readonly<{ outcome: Outcome; elapsedMs: number }>;

/** Exactly one of `onOutcome` and `onStream` is called, once, possibly synchronously. They must not throw. */
export interface AttemptListener {
  onOutcome(outcome: Outcome, elapsedMs: number): void;
  /** Whether large results may be streamed. The property is read when the response starts. */
  readonly acceptsStream?: boolean;
  /** Replaces `onOutcome` for a streamed response. */
  onStream?(response: StreamedResponse, elapsedMs: number): void;
}

class Attempt implements NodeRequest, StreamListener {
  readonly id: number;
  readonly method: string;
  readonly params: Buffer | null;
  readonly isLight: boolean;
  readonly canPipeline: boolean;
  readonly #row: MethodRow;
  readonly #node: UpstreamNode;
  readonly #listener: AttemptListener;
  readonly #startedAt: number;

  constructor(node: UpstreamNode, { method, params, row }: Call, listener: AttemptListener, now: number) {
    const { hasEffect, hedged, mayUseWholeTimeout } = methodTraits[row.kind];
    this.id = nextRequestId();
    this.method = method;
    this.params = params;
    this.isLight = !hasEffect && !mayUseWholeTimeout;
    this.canPipeline = hedged && row.credits === 1;
    this.#row = row;
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
    return this.#node.responseMaxBytes;
  }

  attemptWith(outcome: string): CallAttempt {
    const endedAt = performance.now();
    return { node: this.#node.name, startedAt: this.#startedAt, endedAt, outcome };
  }

  onExchange(exchange: Exchange): boolean {
    this.#node.inFlight--;
    let outcome: Outcome;
    try {
      outcome = exchange.kind === 'response' ? this.#outcomeOf(exchange) : exchange;
    } catch {
      // A response that cannot be parsed is invalid.
      outcome = { kind: 'invalid' };
    }
    this.#listener.onOutcome(outcome, performance.now() - this.#startedAt);
    return outcome.kind !== 'invalid';
  }

  #outcomeOf({ status, body, retryAfter }: HttpResponse): Outcome {
    // Only one caller receives the response, and the response is not cached.
    const isExclusive =
      body.length > SCAN_ALWAYS_MAX_BYTES &&
      this.acceptsStream &&
      policiesByRow.get(this.#row)!.ttl === 'never';
    const mayCarry = status === 200 || mayCarryRpcError(status);
    const response = mayCarry ? locateResponse(body, this.id, isExclusive) : null;
    if (status === 200 && response?.errorCode === 0) return { kind: 'response', response, preflight: null };
    const retryAfterMs = retryAfter === null ? null : parseRetryAfter(retryAfter, Date.now());
    const error = response === null ? null : nodeErrorRow(response.errorCode);
    if (status !== 200 && error?.standard !== true) return { kind: 'status', status, retryAfterMs };
    if (response === null) return { kind: 'invalid' };
    if (error?.rule === 'throttled') return { kind: 'status', status: 429, retryAfterMs };
    if (response.errorCode !== 0 && this.#node.leaksSecret(response.body)) return { kind: 'withheld' };
    return { kind: 'response', response, preflight: preflightFault(response) };
  }

  onStreamStart(start: Buffer, bytes: number | null, flow: BodyFlow): BodyListener | null {
    if (!PassthroughResponse.canStream(start)) return null;
    const response = new PassthroughResponse(start, bytes, this.id, flow, this);
    this.#listener.onStream?.(response, performance.now() - this.#startedAt);
    return response;
  }

  onStreamEnd(end: StreamEnd): void {
    this.#node.inFlight--;
    // The start of the stream was recorded as a success.
    if (end === 'invalid') this.#node.recordOutcome({ kind: 'invalid' }, null);
    if (end === 'lost') this.#node.recordOutcome({ kind: 'transport', wasSent: true, timedOut: false }, null);
  }
}

/** Sends the call to one node once. The caller records the outcome. */
export function sendAttempt(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  listener: AttemptListener,
  now = performance.now(),
): PendingRequest {
  node.onRequestStart(now);
  return node.send(new Attempt(node, call, listener, now), now + timeoutMs, now);
}

/** Never rejects. */
export async function attempt(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<AttemptResult> {
  const { promise, resolve } = Promise.withResolvers<AttemptResult>();
  if (signal?.aborted === true) return { outcome: { kind: 'aborted', wasSent: false }, elapsedMs: 0 };
  const pending = sendAttempt(node, call, timeoutMs, {
    onOutcome: (outcome, elapsedMs) => resolve({ outcome, elapsedMs }),
  });
  if (signal === undefined) return promise;
  const abort = (): void => pending.abort();
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
