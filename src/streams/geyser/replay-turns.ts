/** What goes on in turns that it shares with others. */
export interface TurnTaker {
  /** @returns whether it wants another turn. */
  takeTurn(): boolean;
}

export type ReplayTurnsLimits = Readonly<{
  /** Replays that are told at a time; others wait until one has caught up, or its client does not read. */
  replaysMax: number;
}>;

/** The turns of all replays: one slot of one of them in a turn of the event loop, each in its turn. */
export class ReplayTurns {
  readonly #limits: ReplayTurnsLimits;
  /** Whose turn comes next is first. */
  readonly #line = new Set<TurnTaker>();
  readonly #waiting = new Set<TurnTaker>();
  #turn: NodeJS.Immediate | null = null;

  constructor(limits: ReplayTurnsLimits) {
    this.#limits = limits;
  }

  /** It gets a turn, not before the next one of the event loop. */
  ask(taker: TurnTaker): void {
    this.#waiting.add(taker);
    this.#fill();
  }

  /** It wants none any more. Harmless when it did not. */
  leave(taker: TurnTaker): void {
    this.#waiting.delete(taker);
    if (this.#line.delete(taker)) this.#fill();
  }

  #fill(): void {
    for (const taker of this.#waiting) {
      if (this.#line.size >= this.#limits.replaysMax) break;
      this.#waiting.delete(taker);
      this.#line.add(taker);
    }
    if (this.#line.size > 0) this.#turn ??= setImmediate(() => this.#next());
  }

  #next(): void {
    this.#turn = null;
    const [taker] = this.#line;
    if (taker !== undefined) {
      const goesOn = taker.takeTurn();
      if (this.#line.delete(taker) && goesOn) this.#line.add(taker);
    }
    this.#fill();
  }
}
