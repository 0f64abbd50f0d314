import type { Answer, Asked, Asker, Call } from '../protocol/call.ts';
import { Failure, type FailureFacts } from '../protocol/errors.ts';
import { type NatureRow, natures } from '../protocol/methods.ts';
import { nodeErrorRow } from '../protocol/node-errors.ts';
import { type Attempter, putTo } from './attempt.ts';
import { chooseNode } from './choice.ts';
import type { Posted } from './exchange.ts';
import type { UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import { type Outcome, outcomeText } from './outcome.ts';
import { isAmbiguous, isRefusedConnection, judge, refusalOf } from './retry-rules.ts';
import { sentSignature } from './sent-signature.ts';

/** What is known of one call on its way from node to node. Times are `performance.now()`. */
type Walk = {
  readonly call: Call;
  readonly nodes: readonly UpstreamNode[];
  readonly limits: UpstreamLimits;
  readonly deadline: number;
  /** Until then attempts that found no connection are not counted. */
  readonly reconnectUntil: number;
  /** Attempts at which something may have been sent. */
  sent: number;
  /** The last attempt found no connection. */
  refused: boolean;
  /** Lists, not sets: they are short, and made for every call. */
  readonly asked: UpstreamNode[];
  /** Asked, and gave no answer: worth another try when no fresh node is left. */
  readonly mute: UpstreamNode[];
  /** Asked, and said only that they are behind: worth another try too, as soon as another stayed mute. */
  readonly behind: UpstreamNode[];
  /** Asked last: when there is a choice, another is asked again first. */
  last: UpstreamNode | null;
  /** The most telling error so far. */
  best: Answer | null;
  /** A node has been doubted once already: the next one is believed. */
  doubted: boolean;
  /** A node may have acted on the request without our learning of it. */
  ambiguous: boolean;
  timedOut: boolean;
  /** Pauses made before asking a node again; each is longer than the one before. */
  pauses: number;
  /** What became of each attempt, for whoever reads the cause of a failure. */
  readonly story: Step[];
};

type Step = Readonly<{ node: UpstreamNode; outcome: Outcome }>;

/** With less time than this left, an attempt is not worth beginning. */
const ATTEMPT_LEAST_MS = 5;

/** A pause grows to this and no further: a node that comes back is found soon. */
const PAUSE_MAX_MS = 250;

const natureOf = ({ call }: Walk): NatureRow => natures[call.row.nature];

const outOfTime = (walk: Walk): boolean => performance.now() > walk.deadline - ATTEMPT_LEAST_MS;

/** A node that may be asked now: fresh and good ones first, then any fresh one, then those asked before. */
function nodeFor(walk: Walk): UpstreamNode | null {
  const now = performance.now();
  const free = walk.nodes.filter((node) => !node.isFull() && !node.isResting(now));
  const fresh = walk.asked.length === 0 ? free : free.filter((node) => !walk.asked.includes(node));
  const good = fresh.filter((node) => node.isGood(now));
  return chooseNode(good) ?? chooseNode(fresh) ?? nodeAgain(walk, free);
}

/**
 * One that was asked before and did not answer the question: of those, one that was asked least often, so that
 * in each round everybody has a turn. A node behind is not waited for when all have spoken: what it says of itself
 * is then the answer.
 */
function nodeAgain(walk: Walk, free: readonly UpstreamNode[]): UpstreamNode | null {
  if (walk.mute.length === 0) return null;
  const open = free.filter((node) => walk.mute.includes(node) || walk.behind.includes(node));
  const least = Math.min(...open.map((node) => timesAsked(walk, node)));
  const due = open.filter((node) => timesAsked(walk, node) === least);
  return chooseNode(due.filter((node) => node !== walk.last)) ?? chooseNode(due);
}

const timesAsked = ({ asked }: Walk, node: UpstreamNode): number =>
  asked.reduce((times, one) => (one === node ? times + 1 : times), 0);

/** Whether everybody who is still asked has had as many turns as this node: with it a new round begins. */
function beginsRound(walk: Walk, node: UpstreamNode): boolean {
  const open = [...walk.mute, ...walk.behind];
  return open.every((other) => timesAsked(walk, other) <= timesAsked(walk, node));
}

/** Milliseconds until the first resting node may be asked; null when none rests. */
function restLeft(nodes: readonly UpstreamNode[]): number | null {
  const now = performance.now();
  const rests = nodes.filter((node) => node.isResting(now)).map((node) => node.restingUntil - now);
  return rests.length === 0 ? null : Math.min(...rests);
}

/** How long to wait before a node is asked that has failed already: 0 while its round goes on. */
function roundPauseMs(walk: Walk, next: UpstreamNode): number {
  if (!beginsRound(walk, next)) return 0;
  const ms = Math.max(1, walk.limits.backoffMs) * 2 ** walk.pauses++;
  return Math.min(ms, PAUSE_MAX_MS) * (0.5 + Math.random());
}

/** How long to wait for a node that rests; null where none does, or not soon enough, or something was said already. */
function restPauseMs(walk: Walk): number | null {
  const rest = walk.best === null ? restLeft(walk.nodes) : null;
  if (rest === null || rest > walk.limits.restWaitMaxMs) return null;
  return rest + 1 + Math.random() * walk.limits.backoffMs;
}

function timeoutOf(walk: Walk): number {
  const left = walk.deadline - performance.now();
  return Math.max(1, natureOf(walk).takesAllTheTime ? left : Math.min(left, walk.limits.attemptTimeoutMs));
}

function keepBest(walk: Walk, answer: Answer): void {
  const rank = (error: Answer): number => nodeErrorRow(error.errorCode).rank;
  if (walk.best === null || rank(answer) < rank(walk.best)) walk.best = answer;
}

/**
 * After an attempt whose end we did not see, "already processed" means: it worked.
 * Source: reference solana-json-rpc.md §1.1, the S rule.
 */
function settleSend(walk: Walk, outcome: Extract<Outcome, { kind: 'answer' }>): Answer {
  const worked = walk.ambiguous && outcome.preflight === 'already-processed';
  if (!worked || !natureOf(walk).signed) return outcome.answer;
  const signature = sentSignature(walk.call.params);
  return signature === null ? outcome.answer : { body: Buffer.from(JSON.stringify(signature)), errorCode: 0 };
}

/** Takes in what an attempt came to. Returns the answer for the caller, or null to go on. */
function take(walk: Walk, node: UpstreamNode, outcome: Outcome): Answer | null {
  walk.story.push({ node, outcome });
  walk.refused = isRefusedConnection(outcome);
  if (!walk.refused) walk.sent++;
  const verdict = judge(walk.call.row.nature, outcome);
  if (outcome.kind === 'answer' && verdict === 'answer') return settleSend(walk, outcome);
  walk.ambiguous ||= isAmbiguous(outcome);
  walk.timedOut = outcome.kind === 'transport' && outcome.timedOut;
  if (outcome.kind === 'answer') keepBest(walk, outcome.answer);
  else if (verdict !== 'hop-away') walk.mute.push(node);
  if (outcome.kind === 'answer' && nodeErrorRow(outcome.answer.errorCode).behind) walk.behind.push(node);
  if (verdict === 'fail') throw failureOf(walk, outcome);
  if (verdict === 'hop-once' && walk.doubted) return conclude(walk);
  walk.doubted ||= verdict === 'hop-once';
  return null;
}

function factsOf(walk: Walk): FailureFacts {
  const { network, params } = walk.call;
  const { hasEffect, signed } = natureOf(walk);
  if (!walk.ambiguous || !hasEffect) return { network };
  const signature = signed ? sentSignature(params) : null;
  return { network, outcome: 'unknown', ...(signature !== null && { signature }) };
}

function failureOf(walk: Walk, outcome: Outcome | null): Failure {
  const facts = factsOf(walk);
  const retryAfter = retryAfterOf(walk, facts);
  const story = walk.story.map((step) => `${step.node.name}: ${outcomeText(step.outcome)}`);
  const cause = new Error(story.join('; ') || 'no node could be asked');
  if (outcome?.kind === 'too-large') {
    const { answerMaxBytes } = walk.limits;
    return new Failure('ANSWER_TOO_LARGE', { facts: { ...facts, answerMaxBytes }, cause });
  }
  const refusal = refusalOf(walk.story.map((step) => step.outcome));
  if (refusal !== null) return new Failure(refusal, { facts, cause });
  if (outcome?.kind === 'aborted') return new Failure('CLIENT_GONE', { facts, cause });
  if (walk.timedOut || outOfTime(walk)) {
    return new Failure('UPSTREAM_TIMEOUT', { facts, cause, retryAfter });
  }
  if (walk.asked.length === 0 && walk.nodes.some((node) => node.isFull())) {
    return new Failure('OVERLOADED', { facts, cause });
  }
  return new Failure('UPSTREAM_UNAVAILABLE', { facts, cause, retryAfter });
}

/** Seconds, or null to invite nobody to do again what may have been done already. */
function retryAfterOf(walk: Walk, facts: FailureFacts): number | null {
  if (facts.outcome === 'unknown' && !natureOf(walk).signed) return null;
  return Math.max(1, Math.ceil((restLeft(walk.nodes) ?? 0) / 1000));
}

/**
 * Nobody is left to ask: the best of the errors, or a failure of ours. A node's "not now" says nothing about a
 * transaction that an earlier node may have accepted.
 */
function conclude(walk: Walk): Answer {
  const lost = natureOf(walk).signed && walk.ambiguous;
  if (walk.best !== null && !lost) return walk.best;
  throw failureOf(walk, null);
}

/**
 * Where nothing was sent the time decides, once every node had its two turns; elsewhere the number of attempts.
 */
function mayAskMore({ refused, sent, story, nodes, limits, reconnectUntil }: Walk): boolean {
  if (!refused) return sent < limits.attemptsMax;
  return performance.now() < reconnectUntil || story.length < Math.min(limits.attemptsMax, 2 * nodes.length);
}

/** Nodes of the right chain, without those that the operator took out of service unless that is all of them. */
function inService(nodes: readonly UpstreamNode[]): readonly UpstreamNode[] {
  const right = nodes.some((node) => node.wrongChain) ? nodes.filter((node) => !node.wrongChain) : nodes;
  if (!right.some((node) => node.cordon !== null)) return right;
  const open = right.filter((node) => node.cordon === null);
  return open.length === 0 ? right : open;
}

function tell({ trace }: Call, node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
  if (trace == null) return;
  const endedAt = performance.now();
  const isGood = outcome.kind === 'answer' && outcome.answer.errorCode === 0;
  const words = isGood ? 'ok' : outcomeText(outcome);
  trace.attempted({ node: node.name, startedAt: endedAt - elapsedMs, endedAt, outcome: words });
}

function begin(nodes: readonly UpstreamNode[], call: Call, limits: UpstreamLimits): Walk {
  const now = performance.now();
  return {
    call,
    nodes: inService(nodes),
    limits,
    deadline: now + limits.timeoutMs,
    reconnectUntil: now + limits.reconnectMaxMs,
    sent: 0,
    refused: false,
    asked: [],
    mute: [],
    behind: [],
    last: null,
    best: null,
    doubted: false,
    ambiguous: false,
    timedOut: false,
    pauses: 0,
    story: [],
  };
}

const gone: Outcome = { kind: 'aborted', bytesLeft: false };

/** Walks with a call from node to node: an attempt under way, or a pause, or over. */
class AskedNodes implements Asked, Attempter {
  readonly #walk: Walk;
  readonly #asker: Asker;
  #posted: Posted | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;
  #hasLeft = false;

  constructor(walk: Walk, asker: Asker) {
    this.#walk = walk;
    this.#asker = asker;
  }

  leave(): void {
    if (this.#isOver || natureOf(this.#walk).outlivesCaller) return;
    this.#hasLeft = true;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#fail(failureOf(this.#walk, gone));
    } else this.#posted?.abort();
  }

  attempted(outcome: Outcome, elapsedMs: number): void {
    const walk = this.#walk;
    const node = walk.last as UpstreamNode;
    this.#posted = null;
    tell(walk.call, node, outcome, elapsedMs);
    node.learn(outcome, natureOf(walk).takesAllTheTime ? null : elapsedMs);
    try {
      const answer = take(walk, node, outcome);
      if (answer === null) this.next();
      else this.#end(answer);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  /** Asks the next node, now or after a pause. */
  next(): void {
    const walk = this.#walk;
    if (!mayAskMore(walk)) {
      this.#conclude();
      return;
    }
    // Chosen and counted as in flight within one tick, so that a burst of calls sees its own weight.
    const node = nodeFor(walk);
    if (node !== null && !walk.asked.includes(node)) this.#ask(node);
    else this.#askLater(node);
  }

  /** After a pause, because the node has just failed or because all rest. */
  #askLater(node: UpstreamNode | null): void {
    const ms = node === null ? restPauseMs(this.#walk) : roundPauseMs(this.#walk, node);
    if (ms === null) this.#conclude();
    else if (ms === 0) this.#ask(node);
    else this.#pause(ms);
  }

  #pause(ms: number): void {
    const left = this.#walk.deadline - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#ask(nodeFor(this.#walk));
      },
      Math.max(0, Math.min(ms, left)),
    );
  }

  #ask(node: UpstreamNode | null): void {
    const walk = this.#walk;
    if (node === null || outOfTime(walk)) {
      this.#conclude();
      return;
    }
    walk.asked.push(node);
    walk.last = node;
    const asked = walk.asked.length;
    const posted = putTo(node, walk.call, timeoutOf(walk), this);
    // It may have ended already, and the next attempt have begun.
    if (this.#isOver || walk.asked.length !== asked || walk.story.length === asked) return;
    this.#posted = posted;
    if (this.#hasLeft) posted.abort();
  }

  #conclude(): void {
    try {
      this.#end(conclude(this.#walk));
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #end(answer: Answer): void {
    this.#isOver = true;
    this.#asker.answered(answer);
  }

  #fail(thrown: unknown): void {
    this.#isOver = true;
    this.#asker.failed(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown }));
  }
}

/**
 * Puts a call to one node after another until one answers it, as the rules for its nature allow. It fails when nobody
 * answered: UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, OVERLOADED, ANSWER_TOO_LARGE; or as the caller's, when every node
 * that was asked refused the request as such: BODY_TOO_LARGE, INVALID_REQUEST; or CLIENT_GONE, when whoever asked left.
 */
export function askNodes(
  nodes: readonly UpstreamNode[],
  call: Call,
  limits: UpstreamLimits,
  asker: Asker,
): Asked {
  const asked = new AskedNodes(begin(nodes, call, limits), asker);
  asked.next();
  return asked;
}
