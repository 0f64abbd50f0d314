import type { Slot } from '../../ledger/units.ts';
import type { Answer, Asked, Asker, Call, DirectSource, Network } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import type { Failure } from '../../protocol/errors.ts';
import { methods } from '../../protocol/methods.ts';
import type { AnswerCounts } from '../cache/answer-counts.ts';
import type { CallKey, CallKeys } from '../cache/call-key.ts';
import { isCredible, type KnownSlots } from '../known-slots.ts';
import { nothingAsked } from '../nothing-asked.ts';
import { toldSlot } from '../slots/told-slot.ts';

export type KnownHeadsOptions = Readonly<{
  source: DirectSource;
  slots: KnownSlots;
  keys: CallKeys;
  counts: AnswerCounts;
  /** How long ago a slot may have been told: about as long as one takes. */
  freshMs?: number;
  /** Milliseconds, of the same clock as what is known of slots. */
  now?: () => number;
}>;

export const KNOWN_HEADS_FRESH_MS = 500;

/** So long nobody is told less than somebody was told. */
const TOLD_HOLDS_MS = 10_000;
/** So long a node is believed that said that it is healthy, while it or another tells of its slots. */
const HEALTHY_HOLDS_MS = 5_000;

const HEALTHY: Answer = { body: Buffer.from('"ok"'), errorCode: 0 };

const slotAnswer = (slot: Slot): Answer => ({ body: Buffer.from(String(slot)), errorCode: 0 });

/** The newest slot that getSlot was answered with at a commitment of a network, and that answer. */
type Told = Readonly<{ slot: Slot; atMs: number; answer: Answer }>;

/** What nodes answer to getSlot is newer, mostly, than what is known of them: what is told from here next is not older. */
class Forwarded implements Asker {
  readonly #heads: KnownHeads;
  readonly #call: Call;
  readonly #commitment: Commitment;
  readonly #asker: Asker;

  constructor(heads: KnownHeads, call: Call, commitment: Commitment, asker: Asker) {
    this.#heads = heads;
    this.#call = call;
    this.#commitment = commitment;
    this.#asker = asker;
  }

  answered(answer: Answer): void {
    const { network, row } = this.#call;
    const slot = answer.errorCode === 0 ? toldSlot(row, answer.body) : null;
    if (slot !== null) this.#heads.noteTold(network, this.#commitment, slot, answer);
    this.#asker.answered(answer);
  }

  failed(failure: Failure): void {
    this.#asker.failed(failure);
  }
}

/** Only a node knows whether it is healthy: what it says itself holds for those who ask next. */
class AskedHealth implements Asker {
  readonly #heads: KnownHeads;
  readonly #network: Network;
  readonly #asker: Asker;

  constructor(heads: KnownHeads, network: Network, asker: Asker) {
    this.#heads = heads;
    this.#network = network;
    this.#asker = asker;
  }

  answered(answer: Answer): void {
    this.#heads.noteHealth(this.#network, answer.errorCode === 0);
    this.#asker.answered(answer);
  }

  failed(failure: Failure): void {
    this.#heads.noteHealth(this.#network, false);
    this.#asker.failed(failure);
  }
}

/** What has a parameter that the method does not take is a node's to refuse. */
const isWithoutParams = ({ params }: Call): boolean => params === null || params.toString('latin1') === '[]';

/**
 * Answers getHealth and getSlot by what the nodes told a moment ago, and asks for the rest. What is told from here is not
 * older than what anybody was told in the last seconds, nor newer than what a node can answer for. A node that is asked
 * is believed as it is: who must not see the chain go back has a floor for that (floored-calls.ts).
 */
export class KnownHeads implements DirectSource {
  readonly #source: DirectSource;
  readonly #slots: KnownSlots;
  readonly #keys: CallKeys;
  readonly #counts: AnswerCounts;
  readonly #freshMs: number;
  readonly #now: () => number;
  readonly #told = new Map<Network, Map<Commitment, Told>>();
  /** When a node last said that it is healthy, where none has said otherwise since. */
  readonly #healthyAt = new Map<Network, number>();

  constructor({ source, slots, keys, counts, freshMs, now }: KnownHeadsOptions) {
    this.#source = source;
    this.#slots = slots;
    this.#keys = keys;
    this.#counts = counts;
    this.#freshMs = freshMs ?? KNOWN_HEADS_FRESH_MS;
    this.#now = now ?? (() => performance.now());
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    if (call.row === methods.getSlot) return this.#putSlot(call, asker);
    if (call.row !== methods.getHealth || !isWithoutParams(call)) return this.#source.put(call, asker);
    return this.#isHealthy(call.network)
      ? this.#answer(call, asker, HEALTHY)
      : this.#source.put(call, new AskedHealth(this, call.network, asker));
  }

  /** A node was asked whether it is healthy. */
  noteHealth(network: Network, isHealthy: boolean): void {
    if (isHealthy) this.#healthyAt.set(network, this.#now());
    else this.#healthyAt.delete(network);
  }

  #isHealthy(network: Network): boolean {
    const known = this.#slots.slotAt(network, 'processed');
    const saidAt = this.#healthyAt.get(network);
    if (known === null || saidAt === undefined || !this.#isFresh(known.atMs)) return false;
    return this.#now() - saidAt <= HEALTHY_HOLDS_MS;
  }

  /** getSlot is answered with this slot. */
  noteTold(network: Network, commitment: Commitment, slot: Slot, answer: Answer): void {
    if (!isCredible(slot, this.#slots.slotAt(network, commitment))) return;
    let ofNetwork = this.#told.get(network);
    if (ofNetwork === undefined) {
      ofNetwork = new Map();
      this.#told.set(network, ofNetwork);
    }
    const told = ofNetwork.get(commitment);
    if (told !== undefined && slot <= told.slot && this.#holds(told)) return;
    ofNetwork.set(commitment, { slot, atMs: this.#now(), answer });
  }

  #putSlot(call: Call, asker: Asker): Asked {
    const key = this.#keys.keyOf(call);
    if (key === null || key.commitment === null || !key.isPlain) return this.#source.put(call, asker);
    const answer = this.#headFor(call, key, key.commitment);
    if (answer !== null) return this.#answer(call, asker, answer);
    return this.#source.put(call, new Forwarded(this, call, key.commitment, asker));
  }

  /** The newest slot that may be told, unless the caller wants a newer one; null: a node has to be asked. */
  #headFor({ network, floor }: Call, key: CallKey, commitment: Commitment): Answer | null {
    const known = this.#slots.slotAt(network, commitment);
    if (known === null || !this.#isFresh(known.atMs)) return null;
    const told = this.#told.get(network)?.get(commitment);
    const isAhead = told !== undefined && told.slot > known.slot && this.#holds(told);
    const isSame = told !== undefined && isCredible(told.slot, known);
    if (isAhead && isSame && !this.#isFresh(told.atMs)) return null;
    const head = isAhead && isSame ? told.slot : known.slot;
    if (head < key.minContextSlot || (floor != null && head < floor.at(commitment))) return null;
    if (told?.slot === head) return told.answer;
    const answer = slotAnswer(head);
    this.noteTold(network, commitment, head, answer);
    return answer;
  }

  #answer(call: Call, asker: Asker, answer: Answer): Asked {
    this.#counts.heads++;
    call.trace?.spared?.('heads', this.#now());
    asker.answered(answer);
    return nothingAsked;
  }

  #holds({ atMs }: Told): boolean {
    return this.#now() - atMs <= TOLD_HOLDS_MS;
  }

  #isFresh(atMs: number): boolean {
    return this.#now() - atMs <= this.#freshMs;
  }
}
