import type { Call } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import { methodTraits } from '../protocol/methods.ts';
import type { Slot } from '../solana/units.ts';
import { inService, PowerOfTwoSelector, Primary } from './balancing/load-balancer.ts';
import type { NodeHealth } from './health/node-health.ts';
import type { SlotFault } from './health/node-state.ts';
import { updateEjections } from './health/outlier-detection.ts';
import type { UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import type { Outcome } from './outcome.ts';
import { type AttemptListener, sendAttempt } from './retry/attempt.ts';
import { HedgeBudget, HedgeTimer } from './retry/hedging.ts';
import { ChainHeads } from './slots/chain-heads.ts';
import { referenceSlot } from './slots/reference-slot.ts';
import type { ObservedSlot } from './slots/slot-tracker.ts';

type LagLimits = Readonly<{ lagMaxSlots: number; stallMs: number }>;

const slotOf = (node: NodeHealth): Slot | null => node.slots.processed;

const othersAdvance = (
  nodes: readonly NodeHealth[],
  one: NodeHealth,
  stallMs: number,
  now: number,
): boolean => nodes.some((other) => other !== one && now - other.slots.movedAt < stallMs);

function newestOf(nodes: readonly NodeHealth[]): Slot | null {
  let newest: Slot | null = null;
  for (const node of nodes) {
    const slot = slotOf(node);
    if (slot !== null && (newest === null || slot > newest)) newest = slot;
  }
  return newest;
}

/**
 * A node that jumped ahead implausibly fast has no vote while the others advance, even if there is only one
 * other.
 */
function isTrusted(node: NodeHealth, all: readonly NodeHealth[], limits: LagLimits, now: number): boolean {
  const slot = slotOf(node);
  if (slot === null) return false;
  const others = newestOf(all.filter((other) => other !== node && !other.slots.isSuspect));
  if (others === null || slot <= others + BigInt(limits.lagMaxSlots)) {
    node.slots.isSuspect = false;
    return true;
  }
  return !node.slots.isSuspect || !othersAdvance(all, node, limits.stallMs, now);
}

/** Hysteresis: an excluded node returns only well within the limit. */
function exceeds(lag: bigint, isOverLimit: boolean, limits: LagLimits): boolean {
  return isOverLimit ? lag * 2n > BigInt(limits.lagMaxSlots) : lag > BigInt(limits.lagMaxSlots);
}

function faultOf(
  node: NodeHealth,
  responding: readonly NodeHealth[],
  reference: Slot,
  limits: LagLimits,
  now: number,
): SlotFault | null {
  const { slots, slotFault } = node;
  const slot = slots.processed;
  if (slot === null) return null;
  if (exceeds(reference > slot ? reference - slot : 0n, slotFault === 'behind', limits)) return 'behind';
  if (exceeds(slots.unreplayed ?? 0n, slotFault === 'not-replaying', limits)) return 'not-replaying';
  // It reported the same slot again since then; a node without reports is not blamed.
  const isStalled = slot < reference && slots.observedAt('processed') - slots.movedAt > limits.stallMs;
  if (isStalled && slotFault === 'stalled') return slotFault;
  if (!othersAdvance(responding, node, limits.stallMs, now)) return null;
  if (isStalled) return 'stalled';
  return exceeds(slot - reference, slotFault === 'ahead', limits) ? 'ahead' : null;
}

/**
 * Compares each node with the responding ones, and with the shreds it received: getHealth may return ok
 * while a node does not replay.
 */
export function markLag(nodes: readonly NodeHealth[], limits: LagLimits, now: number): void {
  const responding = nodes.filter((node) => !node.circuit.isTripped && !node.wrongChain);
  const trustedSlots = responding.filter((node) => isTrusted(node, responding, limits, now)).map(slotOf);
  const reference = referenceSlot(
    trustedSlots.filter((slot) => slot !== null),
    limits.lagMaxSlots,
  );
  for (const node of nodes) {
    const slot = slotOf(node);
    if (slot === null || reference === null) continue;
    node.lagSlots = reference > slot ? reference - slot : 0n;
    node.slotFault = faultOf(node, responding, reference, limits, now);
  }
}

/** Mirrors a share of reads to ejected nodes to test recovery; responses are discarded. */
class RecoveryProbes {
  readonly #limits: UpstreamLimits;
  readonly #random: () => number;
  #inFlight = 0;
  #next = 0;

  /** @param random - uniform in [0, 1). */
  constructor(limits: UpstreamLimits, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  maybeProbe(call: Call, nodes: readonly UpstreamNode[]): void {
    const { recoveryProbeRatio, copiesMax, attemptTimeoutMs } = this.#limits;
    if (!methodTraits[call.row.kind].hedged || this.#inFlight >= copiesMax) return;
    if (this.#random() >= recoveryProbeRatio) return;
    const node = this.#selectEjected(nodes, performance.now());
    if (node === null) return;
    this.#inFlight++;
    node.recoveryProbes++;
    sendAttempt(node, call, attemptTimeoutMs, new RecoveryProbe(node, () => void this.#inFlight--));
  }

  /** Round-robin; skips throttled nodes. */
  #selectEjected(nodes: readonly UpstreamNode[], now: number): UpstreamNode | null {
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[(this.#next + i) % nodes.length]!;
      if (!isEjected(node, now) || !canProbe(node, now)) continue;
      this.#next = (this.#next + i + 1) % nodes.length;
      return node;
    }
    return null;
  }
}

class RecoveryProbe implements AttemptListener {
  readonly #node: UpstreamNode;
  readonly #onEnd: () => void;

  constructor(node: UpstreamNode, onEnd: () => void) {
    this.#node = node;
    this.#onEnd = onEnd;
  }

  onOutcome(outcome: Outcome, elapsedMs: number): void {
    this.#onEnd();
    this.#node.recordOutcome(outcome, elapsedMs);
  }
}

const isEjected = (node: UpstreamNode, now: number): boolean => !node.isHealthy(now);

const canProbe = (node: UpstreamNode, now: number): boolean =>
  !node.isThrottled(now) && !node.circuit.isOpen(now) && !node.isBusy && !node.isOverBudget(now);

/** Whether some node is ejected while another serves. */
function hasEjectedNodes(nodes: readonly UpstreamNode[], now: number): boolean {
  const ejected = nodes.filter((node) => isEjected(node, now)).length;
  return ejected > 0 && ejected < nodes.length;
}

/** One epoch: histories that begin this close together count as equal. */
const SAME_DEPTH_SLOTS = 432_000n;

/**
 * Nodes of one network and state shared by its calls. Node lists are replaced, never mutated: a call keeps
 * the list that it started with.
 */
export class NodeGroup {
  readonly limits: UpstreamLimits;
  /** Shared, because a selection is synchronous. */
  readonly selector = new PowerOfTwoSelector();
  readonly hedgeTimer = new HedgeTimer();
  readonly hedgeBudget: HedgeBudget;
  readonly scanHedgeBudget: HedgeBudget;
  readonly #chainHeads = new ChainHeads();
  readonly #primary: Primary;
  readonly #recoveryProbes: RecoveryProbes;
  #candidates: readonly UpstreamNode[];
  /** Replaced, never mutated. */
  serving: readonly UpstreamNode[];
  /** Start of the longest history; null if unknown. */
  #oldestAvailable: Slot | null = null;
  /** Some serving nodes are ejected: their recovery is probed. */
  hasEjected = false;

  /**
   * @param candidates - all nodes that may serve calls.
   * @param limits - read at each use: may change.
   */
  constructor(candidates: readonly UpstreamNode[], limits: UpstreamLimits) {
    this.limits = limits;
    this.hedgeBudget = new HedgeBudget(limits);
    this.scanHedgeBudget = new HedgeBudget(limits);
    this.#primary = new Primary(limits);
    this.#recoveryProbes = new RecoveryProbes(limits);
    this.#candidates = candidates;
    this.serving = candidates;
    this.refresh();
  }

  /** Sticky node; null in the `spread` strategy. */
  get primary(): UpstreamNode | null {
    return this.limits.loadBalancing === 'sticky' ? this.#primary.node : null;
  }

  setCandidates(candidates: readonly UpstreamNode[]): void {
    this.#candidates = candidates;
    this.refresh();
  }

  /** Recomputes the serving nodes after a change of a node's state. */
  refresh(): void {
    const now = performance.now();
    this.serving = inService(this.#candidates);
    this.#primary.review(this.serving, now);
    this.#updateHeads(now);
  }

  /** May mirror the call to an ejected node. */
  probeRecovery(call: Call): void {
    this.#recoveryProbes.maybeProbe(call, this.serving);
  }

  /** Whether the node has the longest history; true if unknown. */
  hasFullHistory(node: UpstreamNode): boolean {
    const { firstAvailable } = node.capabilities;
    if (this.#oldestAvailable === null || firstAvailable === null) return true;
    return firstAvailable <= this.#oldestAvailable + SAME_DEPTH_SLOTS;
  }

  /** Newest slot of the healthy serving nodes; null if unknown. */
  headAt(commitment: Commitment): ObservedSlot | null {
    return this.#chainHeads.at(commitment);
  }

  isHeadInUse(commitment: Commitment, withinMs: number, now: number): boolean {
    return this.#chainHeads.isInUse(commitment, withinMs, now);
  }

  onSlotsObserved(now: number): void {
    this.#updateHeads(now);
  }

  /**
   * Updates lag, ejections and derived state of the group.
   * @param watched - serving and drained nodes.
   */
  review(watched: readonly UpstreamNode[], now: number): void {
    markLag(watched, this.limits, now);
    updateEjections(watched, this.limits, now);
    this.serving = inService(this.#candidates);
    this.#primary.review(this.serving, now);
    this.hasEjected = hasEjectedNodes(this.serving, now);
    this.#oldestAvailable = this.serving.reduce<Slot | null>(older, null);
    this.#updateHeads(now);
  }

  stop(): void {
    this.hedgeTimer.stop();
  }

  #updateHeads(now: number): void {
    this.#chainHeads.update(this.serving.filter((node) => node.isHealthy(now)));
  }
}

function older(
  oldestAvailable: Slot | null,
  { capabilities: { firstAvailable } }: UpstreamNode,
): Slot | null {
  if (firstAvailable === null) return oldestAvailable;
  return oldestAvailable === null || firstAvailable < oldestAvailable ? firstAvailable : oldestAvailable;
}
