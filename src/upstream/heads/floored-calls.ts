import type { Slot } from '../../ledger/units.ts';
import type { Answer, Asked, Asker, Call, DirectSource } from '../../protocol/call.ts';
import type { Commitment } from '../../protocol/commitment.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAsker } from '../../protocol/long-answer.ts';
import type { SlotFloor } from '../../protocol/slot-floor.ts';
import type { AnswerCounts } from '../cache/answer-counts.ts';
import type { CallKeys } from '../cache/call-key.ts';
import { isCredible, type KnownSlots, nothingKnown } from '../known-slots.ts';
import { tellsSlot, toldHeight, toldSlot } from '../slots/told-slot.ts';
import { withLeastSlot } from './least-slot.ts';

export type FlooredCallsLimits = Readonly<{
  /** How long another answer is waited for when one is older than what its reader was told before. */
  waitMs: number;
  /** The pause before it is asked for again; doubles with each. */
  pauseMs: number;
}>;

export const flooredCallsLimits: FlooredCallsLimits = { waitMs: 2_000, pauseMs: 25 };

export type FlooredCallsOptions = Readonly<{
  source: DirectSource;
  keys: CallKeys;
  counts: AnswerCounts;
  /** What floors are measured against before they are raised. */
  slots?: KnownSlots;
  limits?: Partial<FlooredCallsLimits>;
}>;

/** Agave's code and text. Source: rpc-client-api `custom_error.rs`. */
const NOT_REACHED = -32016;
const TEXT = 'Minimum context slot has not been reached';

/** @param slot - what the answer was of; null where it does not say. */
function notReached(slot: Slot | null): Answer {
  const data = slot === null ? '' : `,"data":{"contextSlot":${slot}}`;
  return { body: Buffer.from(`{"code":${NOT_REACHED},"message":"${TEXT}"${data}}`), errorCode: NOT_REACHED };
}

const isBelow = (floor: SlotFloor['heights'], commitment: Commitment, told: Slot | null): boolean =>
  told !== null && told < floor.at(commitment);

const PAUSE_MAX_MS = 400;

/** A call whose options object can say that no node may answer which has not come to a slot. */
const placeOf = ({ row }: Call, kind: string | null): number | null =>
  kind === 'context' ? row.config : null;

type Parts = FlooredCallsOptions & Readonly<{ limits: FlooredCallsLimits; slots: KnownSlots }>;

/** What a call of a reader with a floor asks at, and whether it can ask for a least slot. */
type Terms = Readonly<{ floor: SlotFloor; commitment: Commitment; place: number | null }>;

/** A call that is asked again until its answer is no older than what its reader was told. */
class FlooredCall implements Asked, Asker {
  readonly #parts: Parts;
  readonly #call: Call;
  readonly #terms: Terms;
  readonly #asker: Asker;
  /** Until when it is asked again: from the first answer on that is too old, however long that one took. */
  #deadline = 0;
  #asked: Asked | null = null;
  #timer: NodeJS.Timeout | null = null;
  #asks = 0;
  /** Whether the call that is on its way lets no node answer that is behind. */
  #isGuarded = false;
  #isOver = false;
  #hasLeft = false;

  constructor(parts: Parts, call: Call, terms: Terms, asker: Asker) {
    this.#parts = parts;
    this.#call = call;
    this.#terms = terms;
    this.#asker = asker;
  }

  /** @param isGuarded - nodes that are behind are told to say so, where that can be said. */
  ask(isGuarded: boolean): void {
    const asks = ++this.#asks;
    const asked = this.#parts.source.put(this.#callFor(isGuarded), this);
    // It may have been answered already, and another be on its way.
    if (this.#isOver || this.#asks !== asks || this.#timer !== null) return;
    this.#asked = asked;
    if (this.#hasLeft) asked.leave();
  }

  leave(): void {
    if (this.#isOver) return;
    this.#hasLeft = true;
    if (this.#timer === null) {
      this.#asked?.leave();
      return;
    }
    clearTimeout(this.#timer);
    const { network } = this.#call;
    this.failed(new Failure('CLIENT_GONE', { facts: { network } }));
  }

  /** What says of which slot it is has to be looked at whole. */
  get long(): LongAsker | null {
    return tellsSlot(this.#call.row) ? null : (this.#asker.long ?? null);
  }

  answered(answer: Answer): void {
    const { floor, commitment } = this.#terms;
    if (answer.errorCode !== 0) {
      // Nodes that are behind said so because they were told to, not by the caller.
      if (answer.errorCode === NOT_REACHED && this.#isGuarded) this.#askAgain(answer);
      else this.#end(answer);
      return;
    }
    const { row } = this.#call;
    const told = toldSlot(row, answer.body);
    const height = toldHeight(row, answer.body);
    if (isBelow(floor, commitment, told) || isBelow(floor.heights, commitment, height)) {
      this.#parts.counts.backward++;
      this.#askAgain(notReached(told));
      return;
    }
    if (told !== null && this.#isCredible(told)) floor.raise(commitment, told);
    // No height is above its slot.
    if (height !== null && this.#isCredible(height)) floor.heights.raise(commitment, height);
    this.#end(answer);
  }

  failed(failure: Failure): void {
    this.#isOver = true;
    this.#asker.failed(failure);
  }

  /** One lie of one node must not have its reader wait for what the chain does not come to. */
  #isCredible(told: Slot): boolean {
    // Only this head is always watched; no other commitment is ever beyond it.
    return isCredible(told, this.#parts.slots.slotAt(this.#call.network, 'processed'));
  }

  #end(answer: Answer): void {
    this.#isOver = true;
    this.#asker.answered(answer);
  }

  /** At once when it can be asked better, else after a pause. @param last - what it came to, if time is up. */
  #askAgain(last: Answer): void {
    this.#asked = null;
    const { place } = this.#terms;
    if (this.#deadline === 0) this.#deadline = performance.now() + this.#parts.limits.waitMs;
    if (this.#hasLeft || performance.now() >= this.#deadline) {
      this.#end(last);
      return;
    }
    if (place !== null && !this.#isGuarded) {
      this.ask(true);
      return;
    }
    const pauseMs = Math.min(this.#parts.limits.pauseMs * 2 ** (this.#asks - 1), PAUSE_MAX_MS);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.ask(true);
    }, pauseMs);
  }

  #callFor(isGuarded: boolean): Call {
    const { floor, commitment, place } = this.#terms;
    const least = floor.at(commitment);
    this.#isGuarded = false;
    if (!isGuarded || place === null || least === 0n) return this.#call;
    const params = withLeastSlot(this.#call.params, place, least);
    // Also when the caller asked for as much itself.
    if (params === null || params === this.#call.params) return this.#call;
    this.#isGuarded = true;
    return { ...this.#call, params };
  }
}

/**
 * Lets no reader see the chain go back: what is older than what they were told is not passed on, and asked for again
 * elsewhere; where that does not come in time, they get the error that a node gives which is behind.
 */
export class FlooredCalls implements DirectSource {
  readonly #parts: Parts;

  constructor(options: FlooredCallsOptions) {
    const limits = { ...flooredCallsLimits, ...options.limits };
    this.#parts = { slots: nothingKnown, ...options, limits };
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    const { floor } = call;
    if (floor == null) return this.#parts.source.put(call, asker);
    const key = this.#parts.keys.keyOf(call);
    if (key === null || key.commitment === null) return this.#parts.source.put(call, asker);
    const terms = { floor, commitment: key.commitment, place: placeOf(call, key.rule.config) };
    const floored = new FlooredCall(this.#parts, call, terms, asker);
    // What says itself of which slot it is may come from anywhere at first, so that it may be shared.
    floored.ask(!tellsSlot(call.row));
    return floored;
  }
}
