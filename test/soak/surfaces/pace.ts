import type { Load } from '../report/soak-result.ts';

const TICK_MS = 10;

export type PaceOptions = Readonly<{
  /** Of what is asked. */
  name: string;
  perSecond: number;
  /** What may be under way at a time: beyond it, what is due is left out. */
  inFlightMax: number;
  /** Never rejects. */
  act: () => Promise<void>;
}>;

/**
 * Does something so many times a second, whether or not what was begun before is done: who waits for an answer before
 * asking again asks less of a slow service, and so finds it quick.
 */
export class Pace {
  readonly #options: PaceOptions;
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #started = 0;
  /** What was due and not begun. */
  #skipped = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#startDue(), TICK_MS);
  }

  get load(): Load {
    const { name, perSecond } = this.#options;
    return { name, perSecond, skipped: this.#skipped };
  }

  /** Begins no more, and waits for what is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  #startDue(): void {
    const { perSecond, inFlightMax, act } = this.#options;
    const due = Math.floor(((performance.now() - this.#startedAt) / 1_000) * perSecond);
    for (; this.#started < due; this.#started++) {
      if (this.#underWay.size >= inFlightMax) {
        this.#skipped++;
        continue;
      }
      const done = act();
      this.#underWay.add(done);
      void done.then(() => this.#underWay.delete(done));
    }
  }
}
