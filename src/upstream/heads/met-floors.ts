import type { Answer, Asked, Asker, Call, DirectSource } from '../../protocol/call.ts';
import { askDirectly } from '../../protocol/direct-source.ts';
import { Failure } from '../../protocol/errors.ts';
import type { LongAsker } from '../../protocol/long-answer.ts';
import type { KeptFloor, SlotFloor } from '../../protocol/slot-floor.ts';

/** A call of a reader whose floor others keep too: they are met before it is asked, and before its answer is told. */
class MetCall implements Asked, Asker {
  readonly #source: DirectSource;
  readonly #call: Call;
  readonly #floor: SlotFloor;
  readonly #kept: KeptFloor;
  readonly #asker: Asker;
  #asked: Asked | null = null;
  #hasLeft = false;
  #isOver = false;

  constructor(source: DirectSource, call: Call, floor: SlotFloor, kept: KeptFloor, asker: Asker) {
    this.#source = source;
    this.#call = call;
    this.#floor = floor;
    this.#kept = kept;
    this.#asker = asker;
  }

  begin(): void {
    this.#kept.meet(this.#floor, () => {
      if (this.#hasLeft) return;
      const asked = this.#source.put(this.#call, this);
      if (this.#isOver) return;
      this.#asked = asked;
    });
  }

  leave(): void {
    if (this.#isOver) return;
    this.#hasLeft = true;
    if (this.#asked !== null) this.#asked.leave();
    else this.failed(new Failure('CLIENT_GONE', { facts: { network: this.#call.network } }));
  }

  get long(): LongAsker | null {
    return this.#asker.long ?? null;
  }

  answered(answer: Answer): void {
    this.#isOver = true;
    if (answer.errorCode !== 0 || !this.#kept.isAhead(this.#floor)) this.#asker.answered(answer);
    else this.#kept.meet(this.#floor, () => this.#asker.answered(answer));
  }

  failed(failure: Failure): void {
    this.#isOver = true;
    this.#asker.failed(failure);
  }
}

/**
 * Lets a reader whose calls several processes answer see the chain go back in none of them: each asks what the others
 * told before it reads, and tells them of what it read before it answers.
 */
export class MetFloors implements DirectSource {
  readonly #source: DirectSource;

  /** @param source - holds readers to their floors, and raises them. */
  constructor(source: DirectSource) {
    this.#source = source;
  }

  ask(call: Call, signal?: AbortSignal): Promise<Answer> {
    return askDirectly(this, call, signal);
  }

  put(call: Call, asker: Asker): Asked {
    const { floor } = call;
    if (floor?.kept == null) return this.#source.put(call, asker);
    const met = new MetCall(this.#source, call, floor, floor.kept, asker);
    met.begin();
    return met;
  }
}
