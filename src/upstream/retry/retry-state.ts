import type { Call, RpcResponse } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodTraits, methodTraits } from '../../protocol/methods.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import type { Outcome } from '../outcome.ts';
import { commitmentOf, firstSlotOf, minContextSlotOf } from '../slots/context-slot.ts';
import type { HedgeBudget } from './hedging.ts';

/** One attempt that has ended. */
export type AttemptStep = Readonly<{
  node: UpstreamNode;
  outcome: Outcome;
  /** It gave no answer: worth another try when no fresh node is left. */
  hasNoResponse: boolean;
  /** It said only that it is behind: worth another try too, as soon as another stayed mute. */
  isBehind: boolean;
}>;

const NO_STEPS: readonly AttemptStep[] = [];

/** With less time than this left, an attempt is not worth beginning. */
const ATTEMPT_MIN_MS = 5;

/** What is known of one call on its way from node to node. Times are `performance.now()`. */
export class RetryState {
  readonly call: Call;
  readonly group: NodeGroup;
  readonly nodes: readonly UpstreamNode[];
  readonly limits: UpstreamLimits;
  readonly traits: MethodTraits;
  readonly startedAt = performance.now();
  readonly deadline: number;
  /** Until then attempts that found no connection are not counted. */
  readonly reconnectUntil: number;
  /** The slot whose history is wanted; null where it is not named or does not matter. */
  readonly slot: bigint | null;
  /** Whoever answers should have come to this slot at this commitment; null where any will do. */
  readonly minSlot: bigint | null;
  readonly commitment: Commitment;
  /** Who is being asked, and who besides because that one is late. */
  activeNode: UpstreamNode | null = null;
  hedgeNode: UpstreamNode | null = null;
  /** Asked last: when there is a choice, another is asked again first. */
  lastNode: UpstreamNode | null = null;
  /** Attempts at which something may have been sent. */
  sent = 0;
  /** The last attempt found no connection. */
  refused = false;
  /** The most telling error so far, or that there is nothing. */
  best: RpcResponse | null = null;
  /** A node has been doubted once already: the next one is believed. */
  isDoubted = false;
  /** A node may have acted on the request without our learning of it. */
  ambiguous = false;
  timedOut = false;
  /** Pauses made before asking a node again; each is longer than the one before. */
  backoffs = 0;
  #steps: AttemptStep[] | null = null;

  constructor(call: Call, group: NodeGroup) {
    this.call = call;
    this.group = group;
    this.nodes = group.serving;
    this.limits = group.limits;
    this.traits = methodTraits[call.row.kind];
    this.deadline = this.startedAt + this.limits.timeoutMs;
    this.reconnectUntil = this.startedAt + this.limits.reconnectMaxMs;
    // Where there is no choice, nothing that a choice depends on need be known.
    const hasChoice = this.nodes.length > 1;
    this.slot = hasChoice && call.row.history === 'slot' ? firstSlotOf(call.params) : null;
    this.minSlot = hasChoice ? minSlotOf(call) : null;
    this.commitment = this.minSlot === null ? 'processed' : commitmentOf(call);
  }

  /** What became of each attempt, for whoever reads the cause of a failure. */
  get steps(): readonly AttemptStep[] {
    return this.#steps ?? NO_STEPS;
  }

  addStep(step: AttemptStep): void {
    if (this.#steps === null) this.#steps = [step];
    else this.#steps.push(step);
  }

  /** What second attempts beside a first are taken from; null where the call may be at one node at a time only. */
  get hedgeBudget(): HedgeBudget | null {
    const { hedged, takesAllTheTime, oneNode } = this.traits;
    if (hedged) return this.group.hedgeBudget;
    return takesAllTheTime && !oneNode ? this.group.scanHedgeBudget : null;
  }

  isOutOfTime(now: number): boolean {
    return now > this.deadline - ATTEMPT_MIN_MS;
  }

  get isActive(): boolean {
    return this.activeNode !== null || this.hedgeNode !== null;
  }

  /** How often a node was asked, counting now. */
  attemptsAt(node: UpstreamNode): number {
    let times = node === this.activeNode || node === this.hedgeNode ? 1 : 0;
    for (const step of this.steps) if (step.node === node) times++;
    return times;
  }

  /** Whether a node was asked and has not said what another try would only repeat. */
  isRetryable(node: UpstreamNode): boolean {
    return this.steps.some((step) => step.node === node && (step.hasNoResponse || step.isBehind));
  }

  /** A node answered at greater length than is passed on. */
  get isTooLarge(): boolean {
    return this.steps.some(({ outcome }) => outcome.kind === 'too-large');
  }

  get hasUnresponsive(): boolean {
    return this.steps.some(({ hasNoResponse }) => hasNoResponse);
  }
}

/** What the caller said itself, or what it was told before: an answer must be no older. */
function minSlotOf(call: Call): bigint | null {
  const { row, minSlot } = call;
  const named = minContextSlotOf(call);
  if (minSlot == null || row.history !== null || !(row.context || row.commitment !== null)) return named;
  const observed: bigint = minSlot.at(commitmentOf(call));
  if (observed === 0n) return named;
  return named === null || observed > named ? observed : named;
}
