import type { Slot } from '../../ledger/units.ts';
import type { Answer, Asked, Asker, Call, DirectSource } from '../../protocol/call.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAnswer, LongAsker } from '../../protocol/long-answer.ts';
import type { AnswerCounts } from '../cache/answer-counts.ts';
import type { CallKey, CallKeys } from '../cache/call-key.ts';

export type SharedCallsLimits = Readonly<{
  /** Different calls on their way that others may join; beyond them each is asked for alone. */
  callsMax: number;
  /** Callers, of all those calls together, that wait for what somebody else asked; 0: nobody joins. */
  waitingMax: number;
  /** A call that began longer ago is not joined: what it is answered with may be older than the question. */
  joinMaxMs: number;
}>;

export const sharedCallsLimits: SharedCallsLimits = { callsMax: 8_192, waitingMax: 65_536, joinMaxMs: 400 };

/** A call that goes to the source, once for all who ask the same. */
export type Begun = Readonly<{
  call: Call;
  key: CallKey;
  /** `performance.now()`. */
  startedAt: number;
  /** What was known of the chain when it began. */
  slot: Slot | null;
}>;

/** Hears of each call that is shared once, however many wait for it. Must not throw. */
export interface SharedCallHearer {
  /** @returns how far the chain is known to have come at what the call asks at; null when it is not known. */
  slotFor(call: Call, key: CallKey): Slot | null;
  answered(begun: Begun, answer: Answer): void;
}

export type SharedCallsOptions = Readonly<{
  source: DirectSource;
  keys: CallKeys;
  counts: AnswerCounts;
  hearer: SharedCallHearer | null;
  limits?: Partial<SharedCallsLimits>;
  /** Milliseconds, of a clock that never goes back. */
  now?: () => number;
}>;

const gone = ({ network }: Call): Failure => new Failure('CLIENT_GONE', { facts: { network } });

/** Somebody who waits for a call that another began. */
class Joined implements Asked {
  readonly asker: Asker;
  readonly call: Call;
  readonly startedAt: number;
  readonly #flight: Flight;

  constructor(flight: Flight, call: Call, asker: Asker, startedAt: number) {
    this.#flight = flight;
    this.call = call;
    this.asker = asker;
    this.startedAt = startedAt;
  }

  leave(): void {
    this.#flight.leaves(this);
  }

  tellShared(): void {
    this.call.trace?.spared?.('shared', this.startedAt);
  }
}

/**
 * A call on its way, and all who wait for it. Itself it is what its first caller has asked, so that a call which nobody
 * joins makes nothing more.
 */
class Flight implements Asker, Asked, LongAsker {
  readonly begun: Begun;
  readonly #calls: SharedCalls;
  /** Who began it; null once they have left. */
  #first: Asker | null;
  /** Made for the second caller. */
  #others: Set<Joined> | null = null;
  #asked: Asked | null = null;
  #isOver = false;
  #isAbandoned = false;

  constructor(calls: SharedCalls, begun: Begun, asker: Asker) {
    this.#calls = calls;
    this.begun = begun;
    this.#first = asker;
  }

  begin(source: DirectSource): void {
    const asked = source.put(this.begun.call, this);
    if (!this.#isOver) this.#asked = asked;
    else if (this.#isAbandoned) asked.leave();
  }

  join(call: Call, asker: Asker, now: number): Asked {
    const joined = new Joined(this, call, asker, now);
    this.#others ??= new Set();
    this.#others.add(joined);
    return joined;
  }

  /** The first caller has left. */
  leave(): void {
    const first = this.#first;
    if (first === null || this.#isOver) return;
    this.#first = null;
    this.#endIfAlone();
    first.failed(gone(this.begun.call));
  }

  /** One of the others has left. */
  leaves(joined: Joined): void {
    if (this.#isOver || this.#others?.delete(joined) !== true) return;
    this.#calls.noteLeft(1);
    this.#endIfAlone();
    joined.asker.failed(gone(joined.call));
  }

  /** A long result goes on while it comes to a caller who is alone with it; nobody joins then. */
  get long(): LongAsker | null {
    const isAlone = this.#others === null || this.#others.size === 0;
    return isAlone && this.#first?.long != null ? this : null;
  }

  answeredLong(answer: LongAnswer): void {
    this.#end();
    this.#first?.long?.answeredLong(answer);
  }

  answered(answer: Answer): void {
    if (this.#isOver) return;
    this.#end();
    this.#calls.noteAnswer(this.begun, answer);
    this.#first?.answered(answer);
    for (const joined of this.#takeOthers()) {
      joined.tellShared();
      joined.asker.answered(answer);
    }
  }

  failed(failure: Failure): void {
    if (this.#isOver) return;
    this.#end();
    this.#first?.failed(failure);
    for (const { asker } of this.#takeOthers()) asker.failed(failure);
  }

  #endIfAlone(): void {
    if (this.#first !== null || (this.#others?.size ?? 0) > 0) return;
    this.#isAbandoned = true;
    this.#end();
    this.#asked?.leave();
  }

  #end(): void {
    this.#isOver = true;
    this.#calls.noteEnd(this);
  }

  #takeOthers(): ReadonlySet<Joined> {
    const others = this.#others;
    if (others === null) return nobody;
    this.#calls.noteLeft(others.size);
    return others;
  }
}

const nobody: ReadonlySet<Joined> = new Set();

/** One call to the source for all who ask the same at the same time. Each gets the same answer, whose bytes are read only. */
export class SharedCalls implements DirectSource {
  readonly #source: DirectSource;
  readonly #keys: CallKeys;
  readonly #counts: AnswerCounts;
  readonly #hearer: SharedCallHearer | null;
  readonly #limits: SharedCallsLimits;
  readonly #now: () => number;
  /** By the texts of their keys. */
  readonly #flights = new Map<string, Flight>();
  #waiting = 0;

  constructor({ source, keys, counts, hearer, limits, now }: SharedCallsOptions) {
    this.#source = source;
    this.#keys = keys;
    this.#counts = counts;
    this.#hearer = hearer;
    this.#limits = { ...sharedCallsLimits, ...limits };
    this.#now = now ?? (() => performance.now());
  }

  /** Calls on their way that others may join. */
  get calls(): number {
    return this.#flights.size;
  }

  /** Callers that wait for what somebody else asked. */
  get waiting(): number {
    return this.#waiting;
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    return this.putAs(this.#keys.keyOf(call), call, asker);
  }

  /** The same for a call whose key is known. */
  putAs(key: CallKey | null, call: Call, asker: Asker): Asked {
    if (key === null) return this.#source.put(call, asker);
    const now = this.#now();
    const flight = this.#flights.get(key.text);
    if (flight !== undefined && this.#mayJoin(flight, now)) {
      this.#counts.shared++;
      this.#waiting++;
      return flight.join(call, asker, now);
    }
    if (this.#flights.size >= this.#limits.callsMax) return this.#source.put(call, asker);
    const begun = { call, key, startedAt: now, slot: this.#hearer?.slotFor(call, key) ?? null };
    const made = new Flight(this, begun, asker);
    this.#flights.set(key.text, made);
    made.begin(this.#source);
    return made;
  }

  /** A call has ended, or nobody waits for it any more. */
  noteEnd(flight: Flight): void {
    const { text } = flight.begun.key;
    if (this.#flights.get(text) === flight) this.#flights.delete(text);
  }

  noteAnswer(begun: Begun, answer: Answer): void {
    this.#hearer?.answered(begun, answer);
  }

  noteLeft(callers: number): void {
    this.#waiting -= callers;
  }

  #mayJoin(flight: Flight, now: number): boolean {
    return this.#waiting < this.#limits.waitingMax && now - flight.begun.startedAt <= this.#limits.joinMaxMs;
  }
}
