import type { Answer, Call, Network } from '../protocol/call.ts';
import type { LongAnswer } from '../protocol/long-answer.ts';
import { natures } from '../protocol/methods.ts';
import { nodeErrorRow } from '../protocol/node-errors.ts';
import { locateAnswer } from './answer.ts';
import { readingRule } from './cache/reading-rules.ts';
import type { BodyFlow, BodySink, Exchange, Posted, Question } from './exchange.ts';
import type { UpstreamNode } from './node.ts';
import type { Outcome, PreflightFault } from './outcome.ts';
import { type LongEnd, type LongOwner, PassedAnswer } from './passed-answer.ts';
import { nextRequestId } from './request-body.ts';
import { retryAfterMs } from './retry-after.ts';

/** Some proxies send the node's own error with one of these instead of 200. */
const carriesErrors = (status: number): boolean => status === 400 || status >= 500;
const FAULT_OF_ERR: ReadonlyMap<string, PreflightFault> = new Map([
  ['BlockhashNotFound', 'blockhash-not-found'],
  ['AlreadyProcessed', 'already-processed'],
]);

/** What stopped a preflight, from `error.data.err` or else from Agave's text. */
export function preflightFault(answer: Answer): PreflightFault | null {
  if (!nodeErrorRow(answer.errorCode).preflight) return null;
  const error = JSON.parse(answer.body.toString('utf8')) as {
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

type Response = Extract<Exchange, { kind: 'response' }>;

function outcomeOfResponse(node: UpstreamNode, response: Response, id: number, isForOne: boolean): Outcome {
  const { status, body } = response;
  const restMs = retryAfterMs(response.retryAfter, Date.now());
  const mayCarry = status === 200 || carriesErrors(status);
  const answer = mayCarry ? locateAnswer(body, id, isForOne) : null;
  const error = answer === null ? null : nodeErrorRow(answer.errorCode);
  if (status !== 200 && error?.standard !== true) {
    return { kind: 'status', status, restMs };
  }
  if (answer === null) return { kind: 'garbage' };
  if (error?.rule === 'throttled') return { kind: 'status', status: 429, restMs };
  if (answer.errorCode !== 0 && node.revealedBy(answer.body)) return { kind: 'withheld' };
  return { kind: 'answer', answer, preflight: preflightFault(answer) };
}

function withoutCause(got: Exclude<Exchange, Response>): Outcome {
  if (got.kind !== 'transport') return got;
  return { kind: 'transport', bytesLeft: got.bytesLeft, timedOut: got.timedOut };
}

/** An attempt that has ended, and how long it took. */
export type Attempt = Readonly<{ outcome: Outcome; elapsedMs: number }>;

/** Hears how an attempt ended, once; maybe before it was begun. Must not throw. */
export interface Attempter {
  attempted(outcome: Outcome, elapsedMs: number): void;
  /** Takes a long result while it comes. Looked at when one begins to. */
  readonly takesLong?: boolean;
  /** The attempt has come to a long result, which has begun. In place of `attempted`, where `takesLong`. */
  attemptedLong?(answer: LongAnswer, elapsedMs: number): void;
}

/** One request to one node, from its bytes to what they mean. */
class Attempting implements Question, LongOwner {
  readonly id = nextRequestId();
  readonly method: string;
  readonly params: Buffer | null;
  readonly mayShare: boolean;
  readonly #node: UpstreamNode;
  readonly #attempter: Attempter;
  readonly #startedAt: number;

  constructor(node: UpstreamNode, { method, params, row }: Call, attempter: Attempter, now: number) {
    const { hasEffect, takesAllTheTime } = natures[row.nature];
    this.method = method;
    this.params = params;
    this.mayShare = !hasEffect && !takesAllTheTime;
    this.#node = node;
    this.#attempter = attempter;
    this.#startedAt = now;
  }

  get takesLong(): boolean {
    return this.#attempter.takesLong === true;
  }

  get network(): Network {
    return this.#node.network;
  }

  get answerMaxBytes(): number {
    return this.#node.answerMaxBytes;
  }

  put(timeoutMs: number): Posted {
    this.#node.started();
    return this.#node.post(this, this.#startedAt + timeoutMs, this.#startedAt);
  }

  exchanged(got: Exchange): boolean {
    this.#node.ended();
    const outcome = got.kind === 'response' ? this.#outcomeOf(got) : withoutCause(got);
    this.#attempter.attempted(outcome, performance.now() - this.#startedAt);
    return outcome.kind !== 'garbage';
  }

  /** Its answer goes to one caller, as it comes: nobody else has it, and it is not kept. */
  get #isForOne(): boolean {
    return this.takesLong && readingRule(this.method).keep === 'never';
  }

  /** What cannot be read is no answer, whatever it is that broke over it. */
  #outcomeOf(response: Response): Outcome {
    try {
      return outcomeOfResponse(this.#node, response, this.id, this.#isForOne);
    } catch {
      return { kind: 'garbage' };
    }
  }

  began(start: Buffer, bytes: number | null, flow: BodyFlow): BodySink | null {
    if (!PassedAnswer.mayBegin(start)) return null;
    const answer = new PassedAnswer(start, bytes, this.id, flow, this);
    this.#attempter.attemptedLong?.(answer, performance.now() - this.#startedAt);
    return answer;
  }

  longEnded(end: LongEnd): void {
    this.#node.ended();
    // Its beginning was learnt as an answer.
    if (end === 'garbage') this.#node.learn({ kind: 'garbage' }, null);
    if (end === 'lost') this.#node.learn({ kind: 'transport', bytesLeft: true, timedOut: false }, null);
  }
}

/**
 * Puts the call to one node, once, and leaves the learning to whoever hears of it.
 * @param now - `performance.now()`, in this turn of the event loop.
 */
export const putTo = (
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  attempter: Attempter,
  now = performance.now(),
): Posted => new Attempting(node, call, attempter, now).put(timeoutMs);

/** The same as a promise, which never rejects. */
export function attempt(
  node: UpstreamNode,
  call: Call,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Attempt> {
  const { promise, resolve } = Promise.withResolvers<Attempt>();
  if (signal?.aborted === true) {
    resolve({ outcome: { kind: 'aborted', bytesLeft: false }, elapsedMs: 0 });
    return promise;
  }
  const posted = putTo(node, call, timeoutMs, {
    attempted: (outcome, elapsedMs) => resolve({ outcome, elapsedMs }),
  });
  if (signal === undefined) return promise;
  const abort = (): void => posted.abort();
  signal.addEventListener('abort', abort, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', abort));
}
