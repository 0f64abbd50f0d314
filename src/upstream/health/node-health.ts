import type { Network, RpcResponse } from '../../protocol/call.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import { nodeErrorRow } from '../../protocol/node-errors.ts';
import type { Slot } from '../../solana/units.ts';
import { CircuitBreaker } from '../circuit-breaker.ts';
import type { UpstreamLimits } from '../limits.ts';
import { isThrottling, type Outcome } from '../outcome.ts';
import type { RequestBudget } from '../request-budget.ts';
import { MethodLatencies } from '../retry/hedging.ts';
import { NodeSlots } from '../slots/node-slots.ts';
import { AttemptCounts } from './attempt-counts.ts';
import { AttemptTotals } from './attempt-totals.ts';
import { attemptKindOf, Ejection, isNodeFault, RecentOutcomes } from './ejection.ts';
import { type DeclaredCapabilities, NodeCapabilities } from './node-capabilities.ts';
import type { EjectionReason, SlotFault } from './node-state.ts';

/** Weight of the newest sample in the moving average. */
const LATENCY_WEIGHT = 0.2;
const FAILED_POLLS_MAX = 2;

/** Health of a node, based on its responses and polls. Times are on the `performance.now()` clock. */
export class NodeHealth {
  readonly name: string;
  readonly network: Network;
  /** null: unlimited. */
  readonly budget: RequestBudget | null;
  readonly circuit: CircuitBreaker;
  readonly slots: NodeSlots;
  readonly counts = new AttemptCounts();
  readonly recent: RecentOutcomes;
  readonly attempts = new AttemptTotals();
  readonly latencies: MethodLatencies;
  readonly capabilities: NodeCapabilities;
  readonly ejection: Ejection;
  /** Set by `markLag`. */
  slotFault: SlotFault | null = null;
  /** Number of slots behind the best node of the network; set by `markLag`. */
  lagSlots: bigint | null = null;
  /** Set by `markWrongChains`. A node on the wrong chain receives no calls. */
  wrongChain = false;
  genesisHash: string | null = null;
  /** Whether the node has responded to getGenesisHash, even if only with an error (other than throttling). */
  isGenesisFetched = false;
  lastResponseAt: number | null = null;
  /** Moving average. */
  latencyMs: number | null = null;
  inFlight = 0;
  throttledUntil = 0;
  /** The operator's reason for the cordon; null if not cordoned. Cordoned nodes serve only if all are cordoned. */
  cordon: string | null = null;
  /** Time until which the node counts as behind because it reported itself unhealthy (-32005). */
  selfUnhealthyUntil = 0;
  slotsReadAt = Number.NEGATIVE_INFINITY;
  hedges = 0;
  recoveryProbes = 0;
  #consecutiveThrottles = 0;
  #failedPolls = 0;
  readonly #limits: UpstreamLimits;

  constructor(
    {
      name,
      network,
      budget,
      declared,
    }: Pick<NodeHealth, 'name' | 'network' | 'budget'> & Readonly<{ declared?: DeclaredCapabilities }>,
    limits: UpstreamLimits,
  ) {
    this.name = name;
    this.network = network;
    this.budget = budget;
    this.circuit = new CircuitBreaker(limits);
    this.slots = new NodeSlots(limits);
    this.recent = new RecentOutcomes(limits);
    this.latencies = new MethodLatencies(limits);
    this.capabilities = new NodeCapabilities(limits, declared);
    this.ejection = new Ejection(limits);
    this.#limits = limits;
  }

  get slot(): Slot | null {
    return this.slots.processed;
  }

  get ejectionReason(): EjectionReason | null {
    return this.ejection.reason;
  }

  onRequestStart(now: number): void {
    this.inFlight++;
    if (this.circuit.isTripped) this.circuit.recordStart(now);
    this.budget?.spend(now);
  }

  /** Whether the node is usable and its circuit is closed. */
  isHealthy(now: number): boolean {
    return this.isUsable(now) && !this.isFailing;
  }

  isAvailable(now: number): boolean {
    const isBlocked = this.inFlight >= this.#limits.inFlightMax || now < this.throttledUntil;
    return !isBlocked && (this.budget === null || this.budget.has(now));
  }

  /** Whether no problem is known. True for unpolled nodes and half-open circuits, so that these get calls. */
  isUsable(now: number): boolean {
    if (!this.isCurrent(now) || this.ejectionReason !== null) return false;
    return this.#failedPolls < FAILED_POLLS_MAX && !this.isThrottled(now) && !this.circuit.isOpen(now);
  }

  /** Whether the node's slot is within the allowed lag and the node has not recently reported itself unhealthy. */
  isCurrent(now: number): boolean {
    return this.slotFault === null && now >= this.selfUnhealthyUntil;
  }

  get isFailing(): boolean {
    return this.circuit.isTripped || this.#failedPolls >= FAILED_POLLS_MAX;
  }

  isThrottled(now: number): boolean {
    return now < this.throttledUntil;
  }

  /** Another call may have to wait for a connection. */
  get isBusy(): boolean {
    return this.inFlight >= this.#limits.connectionsMax;
  }

  isFull(): boolean {
    return this.inFlight >= this.#limits.inFlightMax;
  }

  isOverBudget(now: number): boolean {
    return this.budget !== null && !this.budget.has(now);
  }

  /** Records a poll with a method that the node may reject even though it serves all other calls. */
  recordOptionalPoll(outcome: Outcome): void {
    if (isThrottling(outcome)) this.#recordOutcome(outcome, null);
    else this.circuit.release();
  }

  /** A node that does not respond to polls counts as failing until it responds again. */
  recordPoll(outcome: Outcome, elapsedMs: number): void {
    // A node that is silent until the timeout needs no second poll.
    if (isTimeout(outcome)) this.#failedPolls = FAILED_POLLS_MAX;
    else if (isNoResponse(outcome)) this.#failedPolls++;
    const isUsable = outcome.kind === 'response' && outcome.response.errorCode === 0;
    this.ejection.notePoll(isUsable && elapsedMs <= this.#limits.slowMs);
    const now = performance.now();
    if (outcome.kind !== 'response') this.#recordFailure(outcome, elapsedMs, now);
    else {
      this.circuit.recordPollSuccess();
      this.#recordResponse(outcome.response, now, elapsedMs);
    }
  }

  /** @param elapsedMs - null if latency and timeouts depend on the request rather than on the node. */
  recordOutcome(outcome: Outcome, elapsedMs: number | null): void {
    this.counts.record(outcome, elapsedMs);
    this.#recordOutcome(outcome, elapsedMs);
  }

  #recordOutcome(outcome: Outcome, elapsedMs: number | null): void {
    const now = performance.now();
    const kind = attemptKindOf(outcome, elapsedMs);
    if (kind !== null) {
      const isTimed = kind === 'succeeded' || (outcome.kind === 'transport' && outcome.timedOut);
      this.recent.record(kind, isTimed ? elapsedMs : null, now);
      this.attempts.record(kind, kind === 'succeeded' ? elapsedMs : null);
      this.ejection.noteCall(kind, elapsedMs, now);
    }
    if (outcome.kind !== 'response') {
      this.#recordFailure(outcome, elapsedMs, now);
      return;
    }
    const { circuit } = this;
    if (circuit.isTripped || circuit.consecutiveFailures > 0) circuit.recordSuccess();
    this.#recordResponse(outcome.response, now, elapsedMs);
  }

  /** Records an attempt aborted because another node responded first. Its duration is a lower bound for the latency. */
  recordSuperseded(row: MethodRow, elapsedMs: number): void {
    this.circuit.release();
    this.counts.recordSuperseded();
    if (elapsedMs < (this.latencyMs ?? 0)) return;
    this.#recordLatency(elapsedMs);
    this.latencies.record(row, elapsedMs);
  }

  #recordFailure(
    outcome: Exclude<Outcome, { kind: 'response' }>,
    elapsedMs: number | null,
    now: number,
  ): void {
    switch (outcome.kind) {
      case 'status':
        this.#recordStatus(outcome.status, outcome.retryAfterMs, now);
        break;
      case 'invalid':
        this.circuit.recordFailure(now);
        break;
      case 'transport':
        // A timeout of a slow method says little about the node.
        if (outcome.timedOut && elapsedMs === null) this.circuit.release();
        else this.circuit.recordFailure(now);
        if (outcome.timedOut) this.#recordLatency(elapsedMs);
        break;
      default:
        this.circuit.release();
    }
  }

  #recordResponse({ errorCode }: RpcResponse, now: number, elapsedMs: number | null): void {
    if (errorCode !== 0 && nodeErrorRow(errorCode).behind)
      this.selfUnhealthyUntil = now + this.#limits.unhealthyMs;
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
    // 400 or 413 may be the caller's fault and must not open the circuit.
    if (isNodeFault(status)) this.circuit.recordFailure(now);
    else this.circuit.release();
  }

  #throttle(retryAfterMs: number | null, now: number): void {
    const backoffMs = this.#limits.throttleMs * 2 ** Math.min(this.#consecutiveThrottles++, 6);
    const ms = Math.min(retryAfterMs ?? backoffMs, this.#limits.throttleMaxMs);
    this.throttledUntil = Math.max(this.throttledUntil, now + ms);
  }
}

const isTimeout = (outcome: Outcome): boolean => outcome.kind === 'transport' && outcome.timedOut;

/** Throttling counts as a response. */
const isNoResponse = (outcome: Outcome): boolean =>
  outcome.kind !== 'response' && outcome.kind !== 'aborted' && !isThrottling(outcome);
