import type { Call } from '../../protocol/call.ts';
import { methodTraits } from '../../protocol/methods.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import { sendAttempt } from '../retry/attempt.ts';

/**
 * Mirrors a share of reads to ejected nodes, to test whether they have recovered. Discards the responses. A node of a
 * worse priority than a healthy node gets no copies: only polls re-admit it.
 */
export class RecoveryProbes {
  readonly #limits: UpstreamLimits;
  #inFlight = 0;
  #next = 0;

  constructor(limits: UpstreamLimits) {
    this.#limits = limits;
  }

  maybeProbe(call: Call, nodes: readonly UpstreamNode[]): void {
    const { recoveryProbeRatio, recoveryProbesInFlightMax, attemptTimeoutMs } = this.#limits;
    if (!methodTraits[call.row.kind].hedged || this.#inFlight >= recoveryProbesInFlightMax) return;
    if (Math.random() >= recoveryProbeRatio) return;
    const node = this.#selectEjected(nodes, performance.now());
    if (node === null) return;
    this.#inFlight++;
    node.recoveryProbes++;
    sendAttempt(node, call, attemptTimeoutMs, {
      onOutcome: (outcome, elapsedMs) => {
        this.#inFlight--;
        node.recordOutcome(outcome, elapsedMs);
      },
    });
  }

  /** Selects in round-robin order. */
  #selectEjected(nodes: readonly UpstreamNode[], now: number): UpstreamNode | null {
    const priorityMax = bestHealthyPriority(nodes, now);
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[(this.#next + i) % nodes.length]!;
      if (node.priority > priorityMax || !isEjected(node, now) || !canProbe(node, now)) continue;
      this.#next = (this.#next + i + 1) % nodes.length;
      return node;
    }
    return null;
  }
}

const isEjected = (node: UpstreamNode, now: number): boolean => !node.isHealthy(now);

const canProbe = (node: UpstreamNode, now: number): boolean =>
  !node.isThrottled(now) && !node.circuit.isOpen(now) && !node.isBusy && !node.isOverBudget(now);

/** Infinity if no node is healthy. */
const bestHealthyPriority = (nodes: readonly UpstreamNode[], now: number): number =>
  Math.min(...nodes.filter((node) => !isEjected(node, now)).map(({ priority }) => priority));

/** Whether a node is healthy, and one of the same or a better priority is ejected. */
export function hasEjectedNodes(nodes: readonly UpstreamNode[], now: number): boolean {
  const best = bestHealthyPriority(nodes, now);
  if (best === Number.POSITIVE_INFINITY) return false;
  return nodes.some((node) => node.priority <= best && isEjected(node, now));
}
