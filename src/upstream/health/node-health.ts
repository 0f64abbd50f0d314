import type { Network, RpcResponse } from '../../protocol/call.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { Slot } from '../../solana/units.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { Outcome } from '../outcome.ts';
import type { RequestBudget } from '../request-budget.ts';
import { MethodLatencies } from '../retry/hedging.ts';
import { NodeSlots } from '../slots/node-slots.ts';
import { attemptKindOf, Ejection, isNodeFault, RecentOutcomes } from './ejection.ts';
import { NodeCapabilities } from './node-capabilities.ts';
import type { EjectionReason, SlotFault } from './node-state.ts';

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
  readonly circuit: CircuitBreaker;
  readonly slots: NodeSlots;
  readonly recent: RecentOutcomes;
  readonly latencies: MethodLatencies;
  readonly capabilities: NodeCapabilities;
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
  isGenesisFetched = false;
  /** When it last answered anything. */
  lastResponseAt: number | null = null;
  /** Moving average; null before the first answer. */
  latencyMs: number | null = null;
  inFlight = 0;
  /** It asked to be left alone until then (429). */
  throttledUntil = 0;
  /** Why the operator took it out of service; null while it is in service. Asked all the same when all others are out too. */
  cordon: string | null = null;
  /** It called itself unhealthy; passed over until then. */
  selfUnhealthyUntil = 0;
  /** When one of its answers was last read for its slot. */
  slotsReadAt = Number.NEGATIVE_INFINITY;
  /** Calls that were put to it because another node was late. */
  hedges = 0;
  /** Copies of calls that it was asked to see whether it is well again. */
  recoveryProbes = 0;
  #consecutiveThrottles = 0;
  #failedPolls = 0;
  readonly #limits: UpstreamLimits;

  constructor({ name, network, budget }: NodeIdentity, limits: UpstreamLimits) {
    this.name = name;
    this.network = network;
    this.budget = budget;
    this.circuit = new CircuitBreaker(limits);
    this.slots = new NodeSlots(limits);
    this.recent = new RecentOutcomes(limits);
    this.latencies = new MethodLatencies(limits);
    this.capabilities = new NodeCapabilities(limits);
    this.ejection = new Ejection(limits);
    this.#limits = limits;
  }

  /** Newest processed slot it told of; null while unknown. */
  get slot(): Slot | null {
    return this.slots.processed;
  }

  /** Why it is ejected for what became of its calls; null while it is not. */
  get ejectionReason(): EjectionReason | null {
    return this.ejection.reason;
  }

  /** A request is on its way, until `ended`. */
  onRequestStart(): void {
    const now = performance.now();
    this.inFlight++;
    this.circuit.recordStart(now);
    this.budget?.spend(now);
  }

  onRequestEnd(): void {
    this.inFlight--;
  }

  /** Nothing speaks against asking it, nor against waiting for it. */
  isHealthy(now: number): boolean {
    return this.isUsable(now) && !this.isFailing;
  }

  /** It takes calls just now. */
  isAvailable(now: number): boolean {
    return !this.isFull() && !this.isThrottled(now) && !this.isOverBudget(now);
  }

  /**
   * Nothing speaks against asking it: what is not known does not, and neither does that it failed some time ago. Whoever
   * has nobody else to find out whether it is back goes by this.
   */
  isUsable(now: number): boolean {
    if (!this.isCurrent(now) || this.ejectionReason !== null) return false;
    return this.#failedPolls < FAILED_POLLS_MAX && !this.isThrottled(now) && !this.circuit.isOpen(now);
  }

  /** Its slots are within the allowed lag, and it does not call itself behind. */
  isCurrent(now: number): boolean {
    return this.slotFault === null && now >= this.selfUnhealthyUntil;
  }

  /** It gave no answers lately: whoever asks it waits in vain, or is the one to find out that it is back. */
  get isFailing(): boolean {
    return this.circuit.isTripped || this.#failedPolls >= FAILED_POLLS_MAX;
  }

  isThrottled(now: number): boolean {
    return now < this.throttledUntil;
  }

  /** It has more calls than connections: another one would wait. */
  get isBusy(): boolean {
    return this.inFlight >= this.#limits.connectionsMax;
  }

  isFull(): boolean {
    return this.inFlight >= this.#limits.inFlightMax;
  }

  /** Its budget allows no request now. */
  isOverBudget(now: number): boolean {
    return this.budget !== null && !this.budget.has(now);
  }

  /**
   * Learns from a poll. Most of them say nothing that calls do not; but a node that answers no poll is failing, and
   * one that answers again may be asked again.
   */
  recordPoll(outcome: Outcome, elapsedMs: number): void {
    if (isNoResponse(outcome)) this.#failedPolls++;
    const isUsable = outcome.kind === 'answer' && outcome.response.errorCode === 0;
    this.ejection.notePoll(isUsable && elapsedMs <= this.#limits.slowMs);
    const now = performance.now();
    if (outcome.kind !== 'answer') this.#recordOutcome(outcome, elapsedMs, now);
    else {
      this.circuit.pollSucceeded();
      this.#recordResponse(outcome.response, now, elapsedMs);
    }
  }

  /**
   * Learns from how an attempt ended.
   * @param elapsedMs - null when the time it took, or that it took too long, does not speak about the node.
   */
  recordOutcome(outcome: Outcome, elapsedMs: number | null): void {
    const now = performance.now();
    this.#countOutcome(outcome, elapsedMs, now);
    this.#recordOutcome(outcome, elapsedMs, now);
  }

  /** Another node answered first: all that is known of this one is that it took at least so long. */
  recordSuperseded(row: MethodRow, elapsedMs: number): void {
    this.circuit.release();
    if (elapsedMs < (this.latencyMs ?? 0)) return;
    this.#recordLatency(elapsedMs);
    this.latencies.record(row, elapsedMs);
  }

  /** For the shares of the last while. */
  #countOutcome(outcome: Outcome, elapsedMs: number | null, now: number): void {
    const kind = attemptKindOf(outcome, elapsedMs);
    if (kind === null) return;
    this.recent.record(kind, now);
    const isTimed = kind === 'answered' || (outcome.kind === 'transport' && outcome.timedOut);
    if (isTimed && elapsedMs !== null) this.recent.recordLatency(elapsedMs);
    this.ejection.noteCall(kind, elapsedMs, now);
  }

  #recordOutcome(outcome: Outcome, elapsedMs: number | null, now: number): void {
    switch (outcome.kind) {
      case 'answer':
        this.circuit.recordSuccess();
        this.#recordResponse(outcome.response, now, elapsedMs);
        break;
      case 'status':
        this.#recordStatus(outcome.status, outcome.retryAfterMs, now);
        break;
      case 'garbage':
        this.circuit.recordFailure(now);
        break;
      case 'transport':
        // A question that took too long says more about the question than about the node.
        if (outcome.timedOut && elapsedMs === null) this.circuit.release();
        else this.circuit.recordFailure(now);
        if (outcome.timedOut) this.#recordLatency(elapsedMs);
        break;
      default:
        this.circuit.release();
    }
  }

  #recordResponse({ errorCode }: RpcResponse, now: number, elapsedMs: number | null): void {
    if (nodeErrorRow(errorCode).behind) this.selfUnhealthyUntil = now + this.#limits.cordonMs;
    this.#consecutiveThrottles = 0;
    this.#failedPolls = 0;
    this.lastResponseAt = now;
    this.#recordLatency(elapsedMs);
  }

  #recordLatency(elapsedMs: number | null): void {
    if (elapsedMs === null) return;
    const before = this.latencyMs ?? elapsedMs;
    this.latencyMs = before + LATENCY_WEIGHT * (elapsedMs - before);
  }

  #recordStatus(status: number, retryAfterMs: number | null, now: number): void {
    if (retryAfterMs !== null || status === 429) this.#throttle(retryAfterMs, now);
    // 400, 413 and their like may be the caller's doing: a bad request must not cut off a good node.
    if (isNodeFault(status)) this.circuit.recordFailure(now);
    else this.circuit.release();
  }

  #throttle(retryAfterMs: number | null, now: number): void {
    const backoffMs = this.#limits.restMs * 2 ** Math.min(this.#consecutiveThrottles++, 6);
    const ms = Math.min(retryAfterMs ?? backoffMs, this.#limits.restMaxMs);
    this.throttledUntil = Math.max(this.throttledUntil, now + ms);
  }
}

/** Whether a poll was not answered. One that asks to be left alone is there: it rests, and does not fail. */
const isNoResponse = (outcome: Outcome): boolean =>
  outcome.kind !== 'answer' &&
  outcome.kind !== 'aborted' &&
  !(outcome.kind === 'status' && outcome.status === 429);
