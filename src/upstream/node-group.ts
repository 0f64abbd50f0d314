import type { Slot } from '../ledger/units.ts';
import type { Call } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import { Draw } from './choice.ts';
import { Copies, hasPatients } from './copies.ts';
import { markExclusions } from './health/exclusion.ts';
import { HedgeBudget } from './hedge/hedge-budget.ts';
import { HedgeRounds } from './hedge/hedge-rounds.ts';
import { inService } from './in-service.ts';
import type { KnownSlot } from './known-slots.ts';
import type { UpstreamLimits } from './limits.ts';
import type { UpstreamNode } from './node.ts';
import { Primary } from './primary.ts';
import { Heads } from './slots/heads.ts';
import { markLag } from './slots/lag.ts';

/** Nodes whose histories begin within so many slots of each other, an epoch, have the same for all that matters. */
const SAME_DEPTH_SLOTS = 432_000n;

/**
 * The nodes of one network, and what is shared between the calls to them. Its lists are never changed, only replaced:
 * a call goes on with the one that it began with.
 */
export class NodeGroup {
  readonly limits: UpstreamLimits;
  /** For choosing; there is one, because a choice is made without a pause. */
  readonly draw = new Draw();
  readonly hedges = new HedgeRounds();
  readonly hedgeBudget: HedgeBudget;
  /** The same of heavy reads, which light ones use up nothing of. */
  readonly scanBudget: HedgeBudget;
  readonly #heads = new Heads();
  readonly #primary: Primary;
  readonly #copies: Copies;
  #asked: readonly UpstreamNode[];
  #serving: readonly UpstreamNode[];
  /** Where the longest history begins; null where no node tells. */
  #deepest: Slot | null = null;
  #hasPatients = false;

  /**
   * @param asked - all that calls may be put to.
   * @param limits - read at each use: they may change while calls are answered.
   */
  constructor(asked: readonly UpstreamNode[], limits: UpstreamLimits) {
    this.limits = limits;
    this.hedgeBudget = new HedgeBudget(limits);
    this.scanBudget = new HedgeBudget(limits);
    this.#primary = new Primary(limits);
    this.#copies = new Copies(limits);
    this.#asked = asked;
    this.#serving = asked;
    this.settle();
  }

  /** Those that calls are put to now. */
  get serving(): readonly UpstreamNode[] {
    return this.#serving;
  }

  /** The one that calls stay at; null where they spread. */
  get primary(): UpstreamNode | null {
    return this.limits.choice === 'sticky' ? this.#primary.node : null;
  }

  /** Makes those that calls may be put to these. */
  ask(asked: readonly UpstreamNode[]): void {
    this.#asked = asked;
    this.settle();
  }

  /** What the operator says of a node has changed, or what is known of it. */
  settle(): void {
    const now = performance.now();
    this.#serving = inService(this.#asked);
    this.#primary.review(this.#serving, now);
    this.#updateHeads(now);
  }

  /** A call begins: maybe a copy of it goes to a node that is passed over. */
  begins(call: Call): void {
    if (this.#hasPatients) this.#copies.offer(call, this.#serving);
  }

  /** Whether a node has as long a history as any. Where none tells, or this one does not, it is believed to. */
  isDeep(node: UpstreamNode): boolean {
    const { firstAvailable } = node.abilities;
    if (this.#deepest === null || firstAvailable === null) return true;
    return firstAvailable <= this.#deepest + SAME_DEPTH_SLOTS;
  }

  /** How far the network is, as those tell that are healthy and asked; null while nothing is known. */
  headAt(commitment: Commitment): KnownSlot | null {
    return this.#heads.at(commitment);
  }

  /** Whether anybody wanted to know a head in the last while. */
  isHeadWanted(commitment: Commitment, withinMs: number, now: number): boolean {
    return this.#heads.isWanted(commitment, withinMs, now);
  }

  /** A node told of its slots. */
  toldSlots(now: number): void {
    this.#updateHeads(now);
  }

  /**
   * Looks at what is known of all nodes, and decides who is passed over.
   * @param watched - those that are asked, and those that are not at the moment.
   */
  review(watched: readonly UpstreamNode[], now: number): void {
    markLag(watched, this.limits, now);
    markExclusions(watched, this.limits, now);
    this.#serving = inService(this.#asked);
    this.#primary.review(this.#serving, now);
    this.#hasPatients = hasPatients(this.#serving, now);
    this.#deepest = this.#serving.reduce<Slot | null>(deeper, null);
    this.#updateHeads(now);
  }

  stop(): void {
    this.hedges.stop();
  }

  #updateHeads(now: number): void {
    this.#heads.update(this.#serving.filter((node) => node.isWell(now)));
  }
}

function deeper(deepest: Slot | null, { abilities: { firstAvailable } }: UpstreamNode): Slot | null {
  if (firstAvailable === null) return deepest;
  return deepest === null || firstAvailable < deepest ? firstAvailable : deepest;
}
