import type { Call } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { type MethodName, methods } from '../../protocol/methods.ts';
import { type Slot, slot as slotOf, U64_MAX } from '../../solana/units.ts';
import { attempt } from '../attempt.ts';
import { fetchGenesis } from '../genesis.ts';
import type { UpstreamNode } from '../node.ts';
import type { NodeGroup } from '../node-group.ts';
import type { Outcome } from '../outcome.ts';

/** So many polls in a row are spared when live answers tell as much. */
const SKIPPED_POLLS_MAX = 4;
/** A head that nobody wanted to know for so many polls is not asked for. */
const HEAD_IDLE_POLLS = 10;
/** A node that refuses a question is asked it again after so many times as long. */
const REFUSED_BACKOFF_FACTOR = 10;

const DIGITS = /^\d{1,20}$/;

/** Those that are asked for when somebody wants to know; the processed one is, always. */
const settledCommitments = ['confirmed', 'finalized'] as const;

function slotIn(outcome: Outcome): Slot | null {
  if (outcome.kind !== 'answer' || outcome.response.errorCode !== 0) return null;
  const text = outcome.response.body.toString('latin1');
  if (!DIGITS.test(text)) return null;
  const value = BigInt(text);
  return value > U64_MAX ? null : slotOf(value);
}

const paramsOf = (commitment: Commitment): Buffer => Buffer.from(`[{"commitment":"${commitment}"}]`);

/** Asks one node what it does not tell by itself: where it is, of which chain, and what it has. */
export class NodePoller {
  readonly #node: UpstreamNode;
  readonly #group: NodeGroup;
  readonly #signal: AbortSignal;
  #skipped = 0;
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
    if (this.#canSkip()) this.#skipped++;
    else if (!(await this.#pollSlot('processed'))) return false;
    await fetchGenesis(node, this.#group.limits.pollTimeoutMs, this.#signal);
    for (const commitment of settledCommitments)
      if (this.#isDue(commitment)) await this.#pollSlot(commitment);
    await this.#pollShreds();
    await this.#pollHistory();
    // What was told until now is known.
    this.#polledAt = performance.now();
    return true;
  }

  /** Live answers told where it is since the last poll; but not for ever, and not of one that is in doubt. */
  #canSkip(): boolean {
    const { slots, isFailing, ejectionReason, isGenesisFetched } = this.#node;
    if (!isGenesisFetched || isFailing || ejectionReason !== null || this.#skipped >= SKIPPED_POLLS_MAX)
      return false;
    return slots.observedAt('processed') > this.#polledAt;
  }

  #isDue(commitment: Commitment): boolean {
    const { pollIntervalMs } = this.#group.limits;
    const now = performance.now();
    if (!this.#group.isHeadInUse(commitment, HEAD_IDLE_POLLS * pollIntervalMs, now)) return false;
    return now - this.#node.slots.observedAt(commitment) > pollIntervalMs / 2;
  }

  async #pollSlot(commitment: Commitment): Promise<boolean> {
    const node = this.#node;
    const { outcome, elapsedMs } = await this.#request('getSlot', paramsOf(commitment));
    if (commitment === 'processed') {
      this.#skipped = 0;
      node.recordPoll(outcome, elapsedMs);
    } else this.#recordRefusal(outcome);
    const slot = slotIn(outcome);
    if (slot === null) return false;
    const now = performance.now();
    node.slots.recordPoll(commitment, slot, now);
    this.#group.onSlotsObserved(now);
    return true;
  }

  /** Of which slot it has shreds. One that does not tell is not judged by it. */
  async #pollShreds(): Promise<void> {
    if (performance.now() < this.#shredsDueAt) return;
    const { shredsIntervalMs } = this.#group.limits;
    const { outcome } = await this.#request('getMaxShredInsertSlot', null);
    const received = slotIn(outcome);
    this.#recordRefusal(outcome);
    this.#node.slots.received = received;
    const factor = received === null ? REFUSED_BACKOFF_FACTOR : 1;
    this.#shredsDueAt = performance.now() + shredsIntervalMs * factor;
  }

  /** The first block that it has: of no use where there is no choice. */
  async #pollHistory(): Promise<void> {
    if (performance.now() < this.#historyDueAt || this.#group.serving.length < 2) return;
    const { outcome } = await this.#request('getFirstAvailableBlock', null);
    this.#recordRefusal(outcome);
    if (outcome.kind === 'answer') this.#node.capabilities.firstAvailable = slotIn(outcome);
    this.#historyDueAt = performance.now() + this.#group.limits.historyIntervalMs;
  }

  #request(method: MethodName, params: Buffer | null): ReturnType<typeof attempt> {
    const call: Call = { network: this.#node.network, method, row: methods[method], params };
    return attempt(this.#node, call, this.#group.limits.pollTimeoutMs, this.#signal);
  }

  /** Who does not offer a method, or not to us, may be a good node for all others. */
  #recordRefusal(outcome: Outcome): void {
    if (outcome.kind === 'status' && outcome.status === 429) this.#node.recordOutcome(outcome, null);
    else this.#node.circuit.release();
  }
}
