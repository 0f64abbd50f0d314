import type { Answer, Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type NatureRow, natures } from '../../protocol/methods.ts';
import type { HedgeBudget } from '../hedge/hedge-budget.ts';
import type { UpstreamLimits } from '../limits.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import type { Outcome } from '../outcome.ts';
import { commitmentOf, firstSlotOf, minContextSlotOf } from '../slots/context-slot.ts';

/** One attempt that has ended. */
export type Step = Readonly<{
  node: UpstreamNode;
  outcome: Outcome;
  /** It gave no answer: worth another try when no fresh node is left. */
  isMute: boolean;
  /** It said only that it is behind: worth another try too, as soon as another stayed mute. */
  isBehind: boolean;
}>;

const NOTHING: readonly Step[] = [];

/** With less time than this left, an attempt is not worth beginning. */
const ATTEMPT_LEAST_MS = 5;

/** What is known of one call on its way from node to node. Times are `performance.now()`. */
export class Walk {
  readonly call: Call;
  readonly group: NodeGroup;
  readonly nodes: readonly UpstreamNode[];
  readonly limits: UpstreamLimits;
  readonly nature: NatureRow;
  readonly beganAt = performance.now();
  readonly deadline: number;
  /** Until then attempts that found no connection are not counted. */
  readonly reconnectUntil: number;
  /** The slot whose history is wanted; null where it is not named or does not matter. */
  readonly slot: bigint | null;
  /** Whoever answers should have come to this slot at this commitment; null where any will do. */
  readonly leastSlot: bigint | null;
  readonly commitment: Commitment;
  /** Who is being asked, and who besides because that one is late. */
  asking: UpstreamNode | null = null;
  hedging: UpstreamNode | null = null;
  /** Asked last: when there is a choice, another is asked again first. */
  last: UpstreamNode | null = null;
  /** Attempts at which something may have been sent. */
  sent = 0;
  /** The last attempt found no connection. */
  refused = false;
  /** The most telling error so far, or that there is nothing. */
  best: Answer | null = null;
  /** A node has been doubted once already: the next one is believed. */
  doubted = false;
  /** A node may have acted on the request without our learning of it. */
  ambiguous = false;
  timedOut = false;
  /** Pauses made before asking a node again; each is longer than the one before. */
  pauses = 0;
  #story: Step[] | null = null;

  constructor(call: Call, group: NodeGroup) {
    this.call = call;
    this.group = group;
    this.nodes = group.serving;
    this.limits = group.limits;
    this.nature = natures[call.row.nature];
    this.deadline = this.beganAt + this.limits.timeoutMs;
    this.reconnectUntil = this.beganAt + this.limits.reconnectMaxMs;
    // Where there is no choice, nothing that a choice depends on need be known.
    const hasChoice = this.nodes.length > 1;
    this.slot = hasChoice && call.row.history === 'slot' ? firstSlotOf(call.params) : null;
    this.leastSlot = hasChoice ? leastSlotOf(call) : null;
    this.commitment = this.leastSlot === null ? 'processed' : commitmentOf(call);
  }

  /** What became of each attempt, for whoever reads the cause of a failure. */
  get story(): readonly Step[] {
    return this.#story ?? NOTHING;
  }

  tell(step: Step): void {
    if (this.#story === null) this.#story = [step];
    else this.#story.push(step);
  }

  /** What second attempts beside a first are taken from; null where the call may be at one node at a time only. */
  get hedgeBudget(): HedgeBudget | null {
    const { hedged, takesAllTheTime, oneNode } = this.nature;
    if (hedged) return this.group.hedgeBudget;
    return takesAllTheTime && !oneNode ? this.group.scanBudget : null;
  }

  isOutOfTime(now: number): boolean {
    return now > this.deadline - ATTEMPT_LEAST_MS;
  }

  get isAsking(): boolean {
    return this.asking !== null || this.hedging !== null;
  }

  /** How often a node was asked, counting now. */
  timesAsked(node: UpstreamNode): number {
    let times = node === this.asking || node === this.hedging ? 1 : 0;
    for (const step of this.story) if (step.node === node) times++;
    return times;
  }

  /** Whether a node was asked and has not said what another try would only repeat. */
  isOpen(node: UpstreamNode): boolean {
    return this.story.some((step) => step.node === node && (step.isMute || step.isBehind));
  }

  /** A node answered at greater length than is passed on. */
  get isTooLarge(): boolean {
    return this.story.some(({ outcome }) => outcome.kind === 'too-large');
  }

  get hasMute(): boolean {
    return this.story.some(({ isMute }) => isMute);
  }
}

/** What the caller said itself, or what it was told before: an answer must be no older. */
function leastSlotOf(call: Call): bigint | null {
  const { row, floor } = call;
  const named = minContextSlotOf(call);
  if (floor == null || row.history !== null || !(row.context || row.commitment !== null)) return named;
  const told: bigint = floor.at(commitmentOf(call));
  if (told === 0n) return named;
  return named === null || told > named ? told : named;
}
