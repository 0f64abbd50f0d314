import type { Slot } from '../solana/units.ts';
import {
  hasWeights,
  inService,
  type NodeSelector,
  PowerOfTwoSelector,
  Primary,
  WeightedSelector,
  withLowest,
} from './balancing/load-balancer.ts';
import { MethodRoutes } from './balancing/method-routes.ts';
import { hasEjectedNodes, RecoveryProbes } from './balancing/recovery-probes.ts';
import { updateEjections } from './health/outlier-detection.ts';
import type { UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import { HedgeBudget, HedgeTimer } from './retry/hedging.ts';
import { ChainHeads } from './slots/chain-heads.ts';
import { markLag } from './slots/lag.ts';

/** Number of slots in an epoch. Histories whose first slots differ by at most this count as equally long. */
const SAME_DEPTH_SLOTS = 432_000n;

/**
 * Nodes of one network and the state that its calls share. Node lists are replaced, never mutated, so a call keeps
 * the list that it started with.
 */
export class NodeGroup {
  readonly limits: UpstreamLimits;
  readonly #powerOfTwo = new PowerOfTwoSelector();
  readonly #weighted = new WeightedSelector();
  /** Weighted only if the weights of the serving nodes differ. */
  selector: NodeSelector = this.#powerOfTwo;
  readonly hedgeTimer = new HedgeTimer();
  readonly hedgeBudget: HedgeBudget;
  /** Separate, so that hedged scans do not use up the budget of other calls. */
  readonly scanHedgeBudget: HedgeBudget;
  /** Chain heads of the healthy serving nodes of the best priority, which answer the calls that follow. */
  readonly heads = new ChainHeads();
  readonly recoveryProbes: RecoveryProbes;
  readonly #primary: Primary;
  #candidates: readonly UpstreamNode[];
  /** Includes drained nodes. */
  #members: readonly UpstreamNode[];
  /** Excludes nodes on the wrong chain and, unless all are cordoned, cordoned nodes. */
  serving: readonly UpstreamNode[];
  /** null if every node serves every method. */
  #routes: MethodRoutes | null = null;
  /** First slot of the longest history among the serving nodes; null if unknown. */
  #oldestAvailable: Slot | null = null;
  /** Whether some serving nodes, but not all, are ejected, so that their recovery must be probed. */
  hasEjected = false;

  /** @param limits - read at each use, because a reload may change them. */
  constructor(candidates: readonly UpstreamNode[], limits: UpstreamLimits) {
    this.limits = limits;
    this.hedgeBudget = new HedgeBudget(limits);
    this.scanHedgeBudget = new HedgeBudget(limits);
    this.#primary = new Primary(limits);
    this.recoveryProbes = new RecoveryProbes(limits);
    this.#candidates = candidates;
    this.#members = candidates;
    this.serving = candidates;
    this.refresh();
  }

  /** Serving nodes to which calls of the method may go. */
  nodesFor(method: string): readonly UpstreamNode[] {
    return this.#routes === null ? this.serving : this.#routes.nodesFor(method);
  }

  /** The sticky node; null with the strategy `spread`. */
  get primary(): UpstreamNode | null {
    return this.limits.loadBalancing === 'sticky' ? this.#primary.node : null;
  }

  /** @param members - the candidates and the drained nodes. */
  setCandidates(candidates: readonly UpstreamNode[], members: readonly UpstreamNode[]): void {
    this.#candidates = candidates;
    this.#members = members;
    this.refresh();
  }

  /** Recomputes the serving nodes after a node's state has changed. */
  refresh(now = performance.now()): void {
    this.serving = inService(this.#candidates);
    this.#routes = MethodRoutes.of(this.#members, this.#candidates);
    this.selector = hasWeights(this.serving) ? this.#weighted : this.#powerOfTwo;
    this.#primary.review(this.serving, now);
    this.updateHeads(now);
  }

  /** Whether the node's history is about as long as the longest history; true if unknown. */
  hasFullHistory(node: UpstreamNode): boolean {
    const { archive, firstAvailable } = node.capabilities;
    if (archive === false) return false;
    if (this.#oldestAvailable === null || firstAvailable === null) return true;
    return firstAvailable <= this.#oldestAvailable + SAME_DEPTH_SLOTS;
  }

  /** Updates lag, ejections, serving nodes and history after a poll. @param watched - all nodes, drained or not. */
  review(watched: readonly UpstreamNode[], now: number): void {
    markLag(watched, this.limits, now);
    updateEjections(watched, this.limits, now);
    this.refresh(now);
    this.hasEjected = hasEjectedNodes(this.serving, now);
    this.#oldestAvailable = this.serving.reduce<Slot | null>(older, null);
  }

  stop(): void {
    this.hedgeTimer.stop();
  }

  updateHeads(now: number): void {
    const healthy = this.serving.filter((node) => node.isHealthy(now));
    this.heads.update(withLowest('priority', healthy));
  }
}

function older(
  oldestAvailable: Slot | null,
  { capabilities: { firstAvailable } }: UpstreamNode,
): Slot | null {
  if (firstAvailable === null) return oldestAvailable;
  return oldestAvailable === null || firstAvailable < oldestAvailable ? firstAvailable : oldestAvailable;
}
