import type { Call } from '../protocol/call.ts';
import { natures } from '../protocol/methods.ts';
import { type Attempter, putTo } from './attempt.ts';
import type { UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import type { Outcome } from './outcome.ts';

/**
 * Copies of reads, put to nodes that are passed over, so that they earn their way back without any customer paying for
 * the trial: nobody gets what they answer, and nobody waits for it.
 */
export class Copies {
  readonly #limits: UpstreamLimits;
  readonly #random: () => number;
  #underWay = 0;
  #next = 0;

  /** @param random - uniform in [0, 1). */
  constructor(limits: UpstreamLimits, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  /** Maybe puts a copy of the call to one of the nodes that are passed over. */
  offer(call: Call, nodes: readonly UpstreamNode[]): void {
    const { copyShare, copiesMax, attemptTimeoutMs } = this.#limits;
    if (!natures[call.row.nature].hedged || this.#underWay >= copiesMax) return;
    if (this.#random() >= copyShare) return;
    const node = this.#patient(nodes, performance.now());
    if (node === null) return;
    this.#underWay++;
    node.copies++;
    putTo(node, call, attemptTimeoutMs, new Copy(node, () => void this.#underWay--));
  }

  /** They take turns. One that wants to be left alone is. */
  #patient(nodes: readonly UpstreamNode[], now: number): UpstreamNode | null {
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[(this.#next + i) % nodes.length]!;
      if (!isPassedOver(node, now) || !mayBeTried(node, now)) continue;
      this.#next = (this.#next + i + 1) % nodes.length;
      return node;
    }
    return null;
  }
}

/** One of them: all that it is for is what the node is then known for. */
class Copy implements Attempter {
  readonly #node: UpstreamNode;
  readonly #onEnd: () => void;

  constructor(node: UpstreamNode, onEnd: () => void) {
    this.#node = node;
    this.#onEnd = onEnd;
  }

  attempted(outcome: Outcome, elapsedMs: number): void {
    this.#onEnd();
    this.#node.learn(outcome, elapsedMs);
  }
}

/** Whether calls go elsewhere as long as they can. */
const isPassedOver = (node: UpstreamNode, now: number): boolean => !node.isWell(now);

const mayBeTried = (node: UpstreamNode, now: number): boolean =>
  !node.isResting(now) && !node.circuit.isOpen(now) && !node.isBusy && !node.isSpent(now);

/** Whether one is passed over while another is not: then there is somebody to try, at nobody's cost. */
export function hasPatients(nodes: readonly UpstreamNode[], now: number): boolean {
  const passedOver = nodes.filter((node) => isPassedOver(node, now)).length;
  return passedOver > 0 && passedOver < nodes.length;
}
