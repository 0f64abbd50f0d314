import type { Answer, Asked, Asker } from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAnswer } from '../../protocol/long-answer.ts';
import { type Attempter, putTo } from '../attempt.ts';
import type { Posted } from '../exchange.ts';
import type { Hedgeable } from '../hedge/hedge-rounds.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { HedgeAttempt, type HedgeOwner } from './hedge-attempt.ts';
import { learnFrom, tellAttempt, tellOvertaken } from './learning.ts';
import { hasLivelierNode, hedgeFor, nodeFor, soonestNode } from './next-node.ts';
import { hedgeAfterMs, restPauseMs, roundPauseMs, timeoutOf } from './pauses.ts';
import { conclude, failureOf, mayAskMore, take, teach } from './verdicts.ts';
import type { Walk } from './walk.ts';

const gone: Outcome = { kind: 'aborted', bytesLeft: false };

/** A result that has begun to come, as far as it is known what it is. */
const begun: Outcome = {
  kind: 'answer',
  answer: { body: Buffer.alloc(0), errorCode: 0 },
  preflight: null,
};

/**
 * Walks with a call from node to node: an attempt under way, and maybe one at a second node because the first is late;
 * or a pause; or over.
 */
export class AskedNodes implements Asked, Attempter, Hedgeable, HedgeOwner {
  earlier: Hedgeable | null = null;
  later: Hedgeable | null = null;
  readonly #walk: Walk;
  readonly #asker: Asker;
  #posted: Posted | null = null;
  #hedge: HedgeAttempt | null = null;
  /** When the newest attempt began. */
  #askedAt = 0;
  /** How many there were: one may have ended, and the next have begun, before it is known what was posted. */
  #attempts = 0;
  #timer: NodeJS.Timeout | null = null;
  /** A place in its budget is kept for this call. */
  #reserved: UpstreamNode | null = null;
  #isOver = false;
  #hasLeft = false;

  constructor(walk: Walk, asker: Asker) {
    this.#walk = walk;
    this.#asker = asker;
    if (walk.hedgeBudget === null || walk.nodes.length < 2) return;
    walk.hedgeBudget.earn();
    walk.group.hedges.add(this);
  }

  leave(): void {
    if (this.#isOver || this.#walk.nature.outlivesCaller) return;
    this.#hasLeft = true;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#giveBack();
      this.#fail(failureOf(this.#walk, gone));
      return;
    }
    // Whichever of the two is first fails the call, and takes the other with it.
    if (this.#walk.asking !== null) this.#posted?.abort();
    else this.#hedge?.abort();
  }

  attempted(outcome: Outcome, elapsedMs: number): void {
    const node = this.#walk.asking as UpstreamNode;
    this.#walk.asking = null;
    this.#posted = null;
    this.#heard(node, outcome, elapsedMs);
  }

  /** Of whoever takes long results while they come. */
  get takesLong(): boolean {
    return !this.#isOver && this.#asker.long != null;
  }

  /** The call has come to its answer, which goes on while nobody asks any further. */
  attemptedLong(answer: LongAnswer, elapsedMs: number): void {
    const node = this.#walk.asking as UpstreamNode;
    this.#walk.asking = null;
    this.#posted = null;
    this.#heardLong(node, answer, elapsedMs);
  }

  /** How the attempt at the second node ended. */
  hedged(outcome: Outcome, elapsedMs: number): void {
    const node = this.#walk.hedging as UpstreamNode;
    this.#walk.hedging = null;
    this.#hedge = null;
    this.#heard(node, outcome, elapsedMs);
  }

  /** The attempt at the second node has come to a long result. */
  hedgedLong(answer: LongAnswer, elapsedMs: number): void {
    const node = this.#walk.hedging as UpstreamNode;
    this.#walk.hedging = null;
    this.#hedge = null;
    this.#heardLong(node, answer, elapsedMs);
  }

  /** Asks the next node, now or after a pause. @param now - `performance.now()`, in this turn of the event loop. */
  next(now = performance.now()): void {
    const walk = this.#walk;
    if (!mayAskMore(walk)) {
      this.#conclude();
      return;
    }
    // Chosen and counted as in flight within one tick, so that a burst of calls sees its own weight.
    const node = nodeFor(walk, now);
    if (node !== null && walk.timesAsked(node) === 0) this.#ask(node, now);
    else if (node !== null) this.#askAgain(node, now);
    else this.#askLater(now);
  }

  look(now: number): void {
    const walk = this.#walk;
    this.#leaveFailing(now);
    const slow = walk.asking ?? walk.hedging;
    if (slow === null || (walk.asking !== null && walk.hedging !== null)) return;
    if (now - this.#askedAt < hedgeAfterMs(walk, slow)) return;
    // Whether or not there is another: it is looked for as often as one would be asked.
    this.#askedAt = now;
    const node = hedgeFor(walk, now);
    if (node === null || walk.isOutOfTime(now) || walk.hedgeBudget?.spend() !== true) return;
    node.hedges++;
    if (walk.asking === null) this.#ask(node, now);
    else this.#askBesides(node, now);
  }

  /** One that gives no answers any more, to nobody, is not waited for while another may be asked. */
  #leaveFailing(now: number): void {
    const { asking, hedging } = this.#walk;
    const isAskingInVain = asking?.isFailing === true;
    const isHedgingInVain = hedging?.isFailing === true;
    if (!(isAskingInVain || isHedgingInVain) || !hasLivelierNode(this.#walk, now)) return;
    if (isAskingInVain) this.#posted?.expire();
    if (isHedgingInVain) this.#hedge?.expire();
  }

  #heard(node: UpstreamNode, outcome: Outcome, elapsedMs: number): void {
    const walk = this.#walk;
    const wasOver = this.#isOver;
    if (wasOver && !this.#hasLeft) {
      tellOvertaken(walk, node, elapsedMs);
      return;
    }
    try {
      tellAttempt(walk, node, outcome, elapsedMs);
      learnFrom(walk, node, outcome, elapsedMs);
      if (wasOver) return;
      const answer = take(walk, node, outcome);
      if (answer !== null) this.#end(answer);
      else if (!walk.isAsking) this.next();
    } catch (thrown) {
      if (!wasOver) this.#fail(thrown);
    }
  }

  #heardLong(node: UpstreamNode, answer: LongAnswer, elapsedMs: number): void {
    try {
      tellAttempt(this.#walk, node, begun, elapsedMs);
      learnFrom(this.#walk, node, begun, elapsedMs);
      teach(this.#walk);
      this.#stop();
      this.#asker.long?.answeredLong(answer);
    } catch (thrown) {
      answer.leave();
      this.#fail(thrown);
    }
  }

  #askAgain(node: UpstreamNode, now: number): void {
    const ms = roundPauseMs(this.#walk, node);
    if (ms === 0) this.#ask(node, now);
    else this.#pause(ms);
  }

  /** After a pause, because all rest or have had what they are to get for now. */
  #askLater(now: number): void {
    const walk = this.#walk;
    const restMs = restPauseMs(walk);
    const soonest = walk.best === null ? soonestNode(walk, now) : null;
    const waitMs = soonest?.budget?.waitMs(now) ?? Number.POSITIVE_INFINITY;
    if (soonest !== null && waitMs <= walk.limits.restWaitMaxMs && waitMs <= (restMs ?? waitMs)) {
      soonest.budget?.spend(now);
      this.#reserved = soonest;
      this.#pause(waitMs);
    } else if (restMs !== null) this.#pause(restMs);
    else this.#conclude();
  }

  #pause(ms: number): void {
    const left = this.#walk.deadline - performance.now();
    this.#timer = setTimeout(() => this.#resume(), Math.max(0, Math.min(ms, left)));
  }

  #resume(): void {
    this.#timer = null;
    const reserved = this.#reserved;
    this.#giveBack();
    const now = performance.now();
    this.#ask(reserved ?? nodeFor(this.#walk, now), now);
  }

  #giveBack(): void {
    this.#reserved?.budget?.giveBack();
    this.#reserved = null;
  }

  #ask(node: UpstreamNode | null, now: number): void {
    const walk = this.#walk;
    if (node === null || walk.isOutOfTime(now)) {
      this.#conclude();
      return;
    }
    const attempt = ++this.#attempts;
    walk.asking = node;
    walk.last = node;
    this.#askedAt = now;
    const posted = putTo(node, walk.call, timeoutOf(walk, now), this, now);
    // It may have ended already, and the next attempt have begun.
    if (this.#isOver || this.#attempts !== attempt || walk.asking === null) return;
    this.#posted = posted;
    if (this.#hasLeft) posted.abort();
  }

  /** Puts the call to a second node, while the first goes on. */
  #askBesides(node: UpstreamNode, now: number): void {
    const walk = this.#walk;
    const hedge = new HedgeAttempt(this);
    this.#hedge = hedge;
    walk.hedging = node;
    hedge.put(walk.call, node, timeoutOf(walk, now), now);
  }

  #conclude(): void {
    try {
      this.#end(conclude(this.#walk));
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  #end(answer: Answer): void {
    this.#stop();
    this.#asker.answered(answer);
  }

  #fail(thrown: unknown): void {
    this.#stop();
    this.#asker.failed(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown }));
  }

  /** Ends what is still under way, which is heard of at once. */
  #stop(): void {
    this.#isOver = true;
    if (this.#walk.hedgeBudget !== null) this.#walk.group.hedges.remove(this);
    this.#posted?.abort();
    this.#hedge?.abort();
  }
}
