import type { Call } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import type { Slot } from '../solana/units.ts';
import { inService } from './balancing/in-service.ts';
import { PowerOfTwoSelector } from './balancing/load-balancer.ts';
import { Primary } from './balancing/primary.ts';
import { hasEjectedNodes, RecoveryProbes } from './balancing/recovery-probes.ts';
import { updateEjections } from './health/outlier-detection.ts';
import type { UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import { HedgeBudget } from './retry/hedge-budget.ts';
import { HedgeTimer } from './retry/hedge-timer.ts';
import { ChainHeads } from './slots/chain-heads.ts';
import { markLag } from './slots/lag.ts';
import type { ObservedSlot } from './slots/slot-tracker.ts';

/** Nodes whose histories begin within so many slots of each other, an epoch, have the same for all that matters. */
const SAME_DEPTH_SLOTS = 432_000n;

/**
 * The nodes of one network, and what is shared between the calls to them. Its lists are never changed, only replaced:
 * a call goes on with the one that it began with.
 */
export class NodeGroup {
  readonly limits: UpstreamLimits;
  /** For choosing; there is one, because a choice is made without a pause. */
  readonly selector = new PowerOfTwoSelector();
  readonly hedgeTimer = new HedgeTimer();
  readonly hedgeBudget: HedgeBudget;
  /** The same of heavy reads, which light ones use up nothing of. */
  readonly scanHedgeBudget: HedgeBudget;
  readonly #chainHeads = new ChainHeads();
  readonly #primary: Primary;
  readonly #recoveryProbes: RecoveryProbes;
  #candidates: readonly UpstreamNode[];
  #serving: readonly UpstreamNode[];
  /** Where the longest history begins; null where no node tells. */
  #oldestAvailable: Slot | null = null;
  #hasEjected = false;

  /**
   * @param asked - all that calls may be put to.
   * @param limits - read at each use: they may change while calls are answered.
   */
  constructor(candidates: readonly UpstreamNode[], limits: UpstreamLimits) {
    this.limits = limits;
    this.hedgeBudget = new HedgeBudget(limits);
    this.scanHedgeBudget = new HedgeBudget(limits);
    this.#primary = new Primary(limits);
    this.#recoveryProbes = new RecoveryProbes(limits);
    this.#candidates = candidates;
    this.#serving = candidates;
    this.refresh();
  }

  /** Those that calls are put to now. */
  get serving(): readonly UpstreamNode[] {
    return this.#serving;
  }

  /** The one that calls stay at; null where they spread. */
  get primary(): UpstreamNode | null {
    return this.limits.loadBalancing === 'sticky' ? this.#primary.node : null;
  }

  /** Makes those that calls may be put to these. */
  setCandidates(candidates: readonly UpstreamNode[]): void {
    this.#candidates = candidates;
    this.refresh();
  }

  /** What the operator says of a node has changed, or what is known of it. */
  refresh(): void {
    const now = performance.now();
    this.#serving = inService(this.#candidates);
    this.#primary.review(this.#serving, now);
    this.#updateHeads(now);
  }

  /** A call begins: maybe a copy of it goes to a node that is passed over. */
  onCallStart(call: Call): void {
    if (this.#hasEjected) this.#recoveryProbes.maybeProbe(call, this.#serving);
  }

  /** Whether a node has as long a history as any. Where none tells, or this one does not, it is believed to. */
  hasFullHistory(node: UpstreamNode): boolean {
    const { firstAvailable } = node.capabilities;
    if (this.#oldestAvailable === null || firstAvailable === null) return true;
    return firstAvailable <= this.#oldestAvailable + SAME_DEPTH_SLOTS;
  }

  /** How far the network is, as those tell that are healthy and asked; null while nothing is known. */
  headAt(commitment: Commitment): ObservedSlot | null {
    return this.#chainHeads.at(commitment);
  }

  /** Whether anybody wanted to know a head in the last while. */
  isHeadInUse(commitment: Commitment, withinMs: number, now: number): boolean {
    return this.#chainHeads.isInUse(commitment, withinMs, now);
  }

  /** A node told of its slots. */
  onSlotsObserved(now: number): void {
    this.#updateHeads(now);
  }

  /**
   * Looks at what is known of all nodes, and decides who is passed over.
   * @param watched - those that are asked, and those that are not at the moment.
   */
  review(watched: readonly UpstreamNode[], now: number): void {
    markLag(watched, this.limits, now);
    updateEjections(watched, this.limits, now);
    this.#serving = inService(this.#candidates);
    this.#primary.review(this.#serving, now);
    this.#hasEjected = hasEjectedNodes(this.#serving, now);
    this.#oldestAvailable = this.#serving.reduce<Slot | null>(older, null);
    this.#updateHeads(now);
  }

  stop(): void {
    this.hedgeTimer.stop();
  }

  #updateHeads(now: number): void {
    this.#chainHeads.update(this.#serving.filter((node) => node.isHealthy(now)));
  }
}

function older(
  oldestAvailable: Slot | null,
  { capabilities: { firstAvailable } }: UpstreamNode,
): Slot | null {
  if (firstAvailable === null) return oldestAvailable;
  return oldestAvailable === null || firstAvailable < oldestAvailable ? firstAvailable : oldestAvailable;
}
