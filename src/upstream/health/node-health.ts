import type { Slot } from '../../ledger/units.ts';
import type { Answer, Network } from '../../protocol/call.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import { Abilities } from '../abilities.ts';
import { Circuit } from '../circuit.ts';
import { MethodLatencies } from '../hedge/method-latencies.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import type { RequestBudget } from '../request-budget.ts';
import { NodeSlots } from '../slots/node-slots.ts';
import { attemptKindOf, isOwnFault } from './attempt-kind.ts';
import { Ejection } from './ejection.ts';
import type { Exclusion, SlotFault } from './node-state.ts';
import { RecentAnswers } from './recent-answers.ts';

/** Weight of the newest sample in the moving average of a node's latency. */
const LATENCY_WEIGHT = 0.2;
/** So many polls in a row without an answer, and it is said to be failing. */
const FAILED_POLLS_MAX = 2;

/** Who a node is, and what it may be asked. */
export type NodeIdentity = Readonly<{
  name: string;
  network: Network;
  /** Null: it may be asked as much as there is to ask. */
  budget: RequestBudget | null;
}>;

/** What is known about a node, learned from its answers and polls. All times are `performance.now()`. */
export class NodeHealth {
  readonly name: string;
  readonly network: Network;
  readonly budget: RequestBudget | null;
  readonly circuit: Circuit;
  readonly slots: NodeSlots;
  readonly recent: RecentAnswers;
  readonly latencies: MethodLatencies;
  readonly abilities: Abilities;
  readonly ejection: Ejection;
  /** Set by the health watch: what speaks against its slots. */
  slotFault: SlotFault | null = null;
  /** Slots behind the best of its network; set by the health watch. */
  lagSlots: bigint | null = null;
  /** Set by the health watch: it belongs to another chain than its network, so it is never asked for anybody. */
  wrongChain = false;
  /** What it said of its genesis; null when it did not. */
  genesisHash: string | null = null;
  /** It has answered the question for its genesis. */
  genesisAsked = false;
  /** When it last answered anything. */
  lastAnswerAt: number | null = null;
  /** Moving average; null before the first answer. */
  latencyMs: number | null = null;
  inFlight = 0;
  /** It asked to be left alone until then (429). */
  restingUntil = 0;
  /** Why the operator took it out of service; null while it is in service. Asked all the same when all others are out too. */
  cordon: string | null = null;
  /** It called itself unhealthy; passed over until then. */
  cordonedUntil = 0;
  /** When one of its answers was last read for its slot. */
  slotsReadAt = Number.NEGATIVE_INFINITY;
  /** Calls that were put to it because another node was late. */
  hedges = 0;
  /** Copies of calls that it was asked to see whether it is well again. */
  copies = 0;
  #throttledInRow = 0;
  #failedPolls = 0;
  readonly #limits: UpstreamLimits;

  constructor({ name, network, budget }: NodeIdentity, limits: UpstreamLimits) {
    this.name = name;
    this.network = network;
    this.budget = budget;
    this.circuit = new Circuit(limits);
    this.slots = new NodeSlots(limits);
    this.recent = new RecentAnswers(limits);
    this.latencies = new MethodLatencies(limits);
    this.abilities = new Abilities(limits);
    this.ejection = new Ejection(limits);
    this.#limits = limits;
  }

  /** Newest processed slot it told of; null while unknown. */
  get slot(): Slot | null {
    return this.slots.processed;
  }

  /** Why it is ejected for what became of its calls; null while it is not. */
  get exclusion(): Exclusion | null {
    return this.ejection.reason;
  }

  /** A request is on its way, until `ended`. */
  started(): void {
    const now = performance.now();
    this.inFlight++;
    this.circuit.started(now);
    this.budget?.spend(now);
  }

  ended(): void {
    this.inFlight--;
  }

  /** Nothing speaks against asking it, nor against waiting for it. */
  isWell(now: number): boolean {
    return this.isGood(now) && !this.isFailing;
  }

  /** It takes calls just now. */
  isFree(now: number): boolean {
    return !this.isFull() && !this.isResting(now) && !this.isSpent(now);
  }

  /**
   * Nothing speaks against asking it: what is not known does not, and neither does that it failed some time ago. Whoever
   * has nobody else to find out whether it is back goes by this.
   */
  isGood(now: number): boolean {
    if (!this.isCurrent(now) || this.exclusion !== null) return false;
    return this.#failedPolls < FAILED_POLLS_MAX && !this.isResting(now) && !this.circuit.isOpen(now);
  }

  /** Its slots are within the allowed lag, and it does not call itself behind. */
  isCurrent(now: number): boolean {
    return this.slotFault === null && now >= this.cordonedUntil;
  }

  /** It gave no answers lately: whoever asks it waits in vain, or is the one to find out that it is back. */
  get isFailing(): boolean {
    return this.circuit.tripped || this.#failedPolls >= FAILED_POLLS_MAX;
  }

  isResting(now: number): boolean {
    return now < this.restingUntil;
  }

  /** It has more calls than connections: another one would wait. */
  get isBusy(): boolean {
    return this.inFlight >= this.#limits.connectionsMax;
  }

  isFull(): boolean {
    return this.inFlight >= this.#limits.inFlightMax;
  }

  /** Its budget allows no request now. */
  isSpent(now: number): boolean {
    return this.budget !== null && !this.budget.has(now);
  }

  /**
   * Learns from a poll. Most of them say nothing that calls do not; but a node that answers no poll is failing, and
   * one that answers again may be asked again.
   */
  learnFromPoll(outcome: Outcome, elapsedMs: number): void {
    if (isSilence(outcome)) this.#failedPolls++;
    const isGood = outcome.kind === 'answer' && outcome.answer.errorCode === 0;
    this.ejection.notePoll(isGood && elapsedMs <= this.#limits.slowMs);
    const now = performance.now();
    if (outcome.kind !== 'answer') this.#learn(outcome, elapsedMs, now);
    else {
      this.circuit.pollSucceeded();
      this.#noteAnswer(outcome.answer, now, elapsedMs);
    }
  }

  /**
   * Learns from how an attempt ended.
   * @param elapsedMs - null when the time it took, or that it took too long, does not speak about the node.
   */
  learn(outcome: Outcome, elapsedMs: number | null): void {
    const now = performance.now();
    this.#count(outcome, elapsedMs, now);
    this.#learn(outcome, elapsedMs, now);
  }

  /** Another node answered first: all that is known of this one is that it took at least so long. */
  overtaken(row: MethodRow, elapsedMs: number): void {
    this.circuit.released();
    if (elapsedMs < (this.latencyMs ?? 0)) return;
    this.#noteLatency(elapsedMs);
    this.latencies.note(row, elapsedMs);
  }

  /** For the shares of the last while. */
  #count(outcome: Outcome, elapsedMs: number | null, now: number): void {
    const kind = attemptKindOf(outcome, elapsedMs);
    if (kind === null) return;
    this.recent.note(kind, now);
    const isTimed = kind === 'answered' || (outcome.kind === 'transport' && outcome.timedOut);
    if (isTimed && elapsedMs !== null) this.recent.noteLatency(elapsedMs);
    this.ejection.noteCall(kind, elapsedMs, now);
  }

  #learn(outcome: Outcome, elapsedMs: number | null, now: number): void {
    switch (outcome.kind) {
      case 'answer':
        this.circuit.succeeded();
        this.#noteAnswer(outcome.answer, now, elapsedMs);
        break;
      case 'status':
        this.#refused(outcome.status, outcome.restMs, now);
        break;
      case 'garbage':
        this.circuit.failed(now);
        break;
      case 'transport':
        // A question that took too long says more about the question than about the node.
        if (outcome.timedOut && elapsedMs === null) this.circuit.released();
        else this.circuit.failed(now);
        if (outcome.timedOut) this.#noteLatency(elapsedMs);
        break;
      default:
        this.circuit.released();
    }
  }

  #noteAnswer({ errorCode }: Answer, now: number, elapsedMs: number | null): void {
    if (nodeErrorRow(errorCode).behind) this.cordonedUntil = now + this.#limits.cordonMs;
    this.#throttledInRow = 0;
    this.#failedPolls = 0;
    this.lastAnswerAt = now;
    this.#noteLatency(elapsedMs);
  }

  #noteLatency(elapsedMs: number | null): void {
    if (elapsedMs === null) return;
    const before = this.latencyMs ?? elapsedMs;
    this.latencyMs = before + LATENCY_WEIGHT * (elapsedMs - before);
  }

  #refused(status: number, restMs: number | null, now: number): void {
    if (restMs !== null || status === 429) this.#rest(restMs, now);
    // 400, 413 and their like may be the caller's doing: a bad request must not cut off a good node.
    if (isOwnFault(status)) this.circuit.failed(now);
    else this.circuit.released();
  }

  #rest(restMs: number | null, now: number): void {
    const doubled = this.#limits.restMs * 2 ** Math.min(this.#throttledInRow++, 6);
    const ms = Math.min(restMs ?? doubled, this.#limits.restMaxMs);
    this.restingUntil = Math.max(this.restingUntil, now + ms);
  }
}

/** Whether a poll was not answered. One that asks to be left alone is there: it rests, and does not fail. */
const isSilence = (outcome: Outcome): boolean =>
  outcome.kind !== 'answer' &&
  outcome.kind !== 'aborted' &&
  !(outcome.kind === 'status' && outcome.status === 429);
