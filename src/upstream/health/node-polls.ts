import { type Slot, slot as slotOf, U64_MAX } from '../../ledger/units.ts';
import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { attempt } from '../attempt.ts';
import { learnChain } from '../chain.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import type { Outcome } from '../outcome.ts';

/** So many polls in a row are spared when live answers tell as much. */
const SPARED_MAX = 4;
/** A head that nobody wanted to know for so many polls is not asked for. */
const WANTED_POLLS = 10;
/** A node that refuses a question is asked it again after so many times as long. */
const REFUSED_TIMES = 10;

const DIGITS = /^\d{1,20}$/;

/** Those that are asked for when somebody wants to know; the processed one is, always. */
const settled = ['confirmed', 'finalized'] as const;

function slotIn(outcome: Outcome): Slot | null {
  if (outcome.kind !== 'answer' || outcome.answer.errorCode !== 0) return null;
  const text = outcome.answer.body.toString('latin1');
  if (!DIGITS.test(text)) return null;
  const value = BigInt(text);
  return value > U64_MAX ? null : slotOf(value);
}

const paramsOf = (commitment: Commitment): Buffer => Buffer.from(`[{"commitment":"${commitment}"}]`);

/** Asks one node what it does not tell by itself: where it is, of which chain, and what it has. */
export class NodePolls {
  readonly #node: UpstreamNode;
  readonly #group: NodeGroup;
  readonly #signal: AbortSignal;
  #spared = 0;
  #polledAt = Number.NEGATIVE_INFINITY;
  #shredsDueAt = 0;
  #historyDueAt = 0;

  constructor(node: UpstreamNode, group: NodeGroup, signal: AbortSignal) {
    this.#node = node;
    this.#group = group;
    this.#signal = signal;
  }

  /** Asks what is due. @returns whether it is known where the node is. */
  async poll(): Promise<boolean> {
    const node = this.#node;
    if (this.#isSpared()) this.#spared++;
    else if (!(await this.#askSlot('processed'))) return false;
    await learnChain(node, this.#group.limits.pollTimeoutMs, this.#signal);
    for (const commitment of settled) if (this.#isDue(commitment)) await this.#askSlot(commitment);
    await this.#askShreds();
    await this.#askHistory();
    // What was told until now is known.
    this.#polledAt = performance.now();
    return true;
  }

  /** Live answers told where it is since the last poll; but not for ever, and not of one that is in doubt. */
  #isSpared(): boolean {
    const { slots, isFailing, exclusion, genesisAsked } = this.#node;
    if (!genesisAsked || isFailing || exclusion !== null || this.#spared >= SPARED_MAX) return false;
    return slots.heardAt('processed') > this.#polledAt;
  }

  #isDue(commitment: Commitment): boolean {
    const { pollIntervalMs } = this.#group.limits;
    const now = performance.now();
    if (!this.#group.isHeadWanted(commitment, WANTED_POLLS * pollIntervalMs, now)) return false;
    return now - this.#node.slots.heardAt(commitment) > pollIntervalMs / 2;
  }

  async #askSlot(commitment: Commitment): Promise<boolean> {
    const node = this.#node;
    const { outcome, elapsedMs } = await this.#ask('getSlot', paramsOf(commitment));
    if (commitment === 'processed') {
      this.#spared = 0;
      node.learnFromPoll(outcome, elapsedMs);
    } else this.#learnRefusal(outcome);
    const slot = slotIn(outcome);
    if (slot === null) return false;
    const now = performance.now();
    node.slots.polled(commitment, slot, now);
    this.#group.toldSlots(now);
    return true;
  }

  /** Of which slot it has shreds. One that does not tell is not judged by it. */
  async #askShreds(): Promise<void> {
    if (performance.now() < this.#shredsDueAt) return;
    const { shredsIntervalMs } = this.#group.limits;
    const { outcome } = await this.#ask('getMaxShredInsertSlot', null);
    const received = slotIn(outcome);
    this.#learnRefusal(outcome);
    this.#node.slots.received = received;
    const times = received === null ? REFUSED_TIMES : 1;
    this.#shredsDueAt = performance.now() + shredsIntervalMs * times;
  }

  /** The first block that it has: of no use where there is no choice. */
  async #askHistory(): Promise<void> {
    if (performance.now() < this.#historyDueAt || this.#group.serving.length < 2) return;
    const { outcome } = await this.#ask('getFirstAvailableBlock', null);
    this.#learnRefusal(outcome);
    if (outcome.kind === 'answer') this.#node.abilities.firstAvailable = slotIn(outcome);
    this.#historyDueAt = performance.now() + this.#group.limits.historyIntervalMs;
  }

  #ask(method: MethodName, params: Buffer | null): ReturnType<typeof attempt> {
    const call: Call = { network: this.#node.network, method, row: methods[method], params };
    return attempt(this.#node, call, this.#group.limits.pollTimeoutMs, this.#signal);
  }

  /** Who does not offer a method, or not to us, may be a good node for all others. */
  #learnRefusal(outcome: Outcome): void {
    if (outcome.kind === 'status' && outcome.status === 429) this.#node.learn(outcome, null);
    else this.#node.circuit.released();
  }
}
