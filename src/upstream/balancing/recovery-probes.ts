import type { Call } from '../../protocol/call.ts';
import { methodTraits } from '../../protocol/methods.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import type { Outcome } from '../outcome.ts';
import { type AttemptListener, sendAttempt } from '../retry/attempt.ts';

/** Mirrors a share of reads to ejected nodes to test recovery; responses are discarded. */
export class RecoveryProbes {
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
export function hasEjectedNodes(nodes: readonly UpstreamNode[], now: number): boolean {
  const ejected = nodes.filter((node) => isEjected(node, now)).length;
  return ejected > 0 && ejected < nodes.length;
}
