import { Turnstile } from '../../../base/turnstile.ts';

/** Reads many things with one question. @returns as many results, in the same order. */
export type ReadMany<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

export type JointReadsOptions<Item, Result> = Readonly<{
  /** Items of one question. */
  itemsMax: number;
  /** Questions at a time. */
  questionsMax: number;
  /** Whether fewer items at once may well be answered. */
  isTooMuch: (fault: unknown) => boolean;
  read: ReadMany<Item, Result>;
}>;

/** How long items gather: those who wait for the same slot come within one turn or a few. */
const GATHER_MS = 5;

type Waiting<Item, Result> = Readonly<{
  item: Item;
  resolve: (result: Result) => void;
  reject: (fault: unknown) => void;
}>;

/** Puts what is asked for at the same time into one question. */
export class JointReads<Item, Result> {
  readonly #options: JointReadsOptions<Item, Result>;
  readonly #questions: Turnstile;
  #waiting: Waiting<Item, Result>[] = [];

  constructor(options: JointReadsOptions<Item, Result>) {
    this.#options = options;
    this.#questions = new Turnstile(options.questionsMax);
  }

  /** @throws whatever `read` throws. */
  read(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setTimeout(() => this.#flush(), GATHER_MS);
      this.#waiting.push({ item, resolve, reject });
      if (this.#waiting.length === this.#options.itemsMax) this.#flush();
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) void this.#questions.run(() => this.#ask(waiting));
  }

  async #ask(waiting: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.read(waiting.map(({ item }) => item));
      for (const [at, { resolve, reject }] of waiting.entries()) {
        const result = results[at];
        if (result === undefined) reject(new Error('an answer is too short'));
        else resolve(result);
      }
    } catch (fault) {
      if (waiting.length > 1 && this.#options.isTooMuch(fault)) {
        const half = Math.ceil(waiting.length / 2);
        await this.#ask(waiting.slice(0, half));
        await this.#ask(waiting.slice(half));
      } else for (const { reject } of waiting) reject(fault);
    }
  }
}
