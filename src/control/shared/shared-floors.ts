import { type Slot, slot } from '../../ledger/units.ts';
import type { FloorExchange, KeptFloor, SlotFloor } from '../../protocol/slot-floor.ts';
import type { LimitExchange } from './limit-exchange.ts';

export type SharedFloorsOptions = Readonly<{
  /** Started and stopped by whoever shares limits over it. */
  exchange: LimitExchange;
  /** What the names of floors begin with. */
  prefix: string;
  /** How long one is kept that nobody tells of. */
  keptMs: number;
}>;

/** How long nobody is asked once they did not answer: reads are not held up by it, each for itself. */
const REST_MS = 1_000;
/** Floors of one exchange. */
const FLOORS_MAX = 500;

/** A floor whose others are to be met. */
type Meeting = Readonly<{
  name: string;
  floor: SlotFloor;
  /** @param told - the highest marks of all; null: nobody could be met. */
  done: (told: readonly Slot[] | null) => void;
}>;

/** The floors of sessions that several processes answer. What is wanted in one turn of the loop goes in one exchange. */
export class SharedFloors implements FloorExchange {
  readonly #options: SharedFloorsOptions;
  #meetings: Meeting[] = [];
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SharedFloorsOptions) {
    this.#options = options;
  }

  keptAt(name: string): KeptFloor {
    return new Kept(this, `${this.#options.prefix}${name}`);
  }

  /** @param done - called once. Must not throw. */
  meet(meeting: Meeting): void {
    if (this.#options.exchange.problem !== null || performance.now() < this.#restsUntil) {
      meeting.done(null);
      return;
    }
    this.#meetings.push(meeting);
    if (this.#meetings.length === 1) setImmediate(() => this.#meetAll());
  }

  #meetAll(): void {
    const all = this.#meetings;
    this.#meetings = [];
    for (let at = 0; at < all.length; at += FLOORS_MAX) void this.#exchange(all.slice(at, at + FLOORS_MAX));
  }

  async #exchange(meetings: readonly Meeting[]): Promise<void> {
    const { exchange, keptMs } = this.#options;
    const keys = meetings.map(({ name }) => name);
    const values = [keptMs, ...meetings.flatMap(({ floor }) => floor.marks.map(String))];
    let told: readonly (readonly Slot[])[] = [];
    try {
      const [answer] = await exchange.run([{ name: 'floors', keys, values }]);
      told = (answer as string[][]).map((marks) => marks.map((mark) => slot(BigInt(mark))));
    } catch {
      // Said by whoever shares limits over it.
      this.#restsUntil = performance.now() + REST_MS;
    }
    meetings.forEach(({ done }, at) => {
      done(told[at] ?? null);
    });
  }
}

/** One floor, as this process knows that the others have it. */
class Kept implements KeptFloor {
  readonly #floors: SharedFloors;
  readonly #name: string;
  /** What all of them were told, as it was heard last. */
  #told = '';

  constructor(floors: SharedFloors, name: string) {
    this.#floors = floors;
    this.#name = name;
  }

  isAhead(floor: SlotFloor): boolean {
    return floor.marks.join() !== this.#told;
  }

  meet(floor: SlotFloor, then: () => void): void {
    const done = (told: readonly Slot[] | null): void => {
      if (told !== null) {
        floor.learn(told);
        this.#told = told.join();
      }
      then();
    };
    this.#floors.meet({ name: this.#name, floor, done });
  }
}
