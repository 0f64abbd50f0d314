import { z } from 'zod';
import { problemText } from '../problem-text.ts';
import { NoAnswer } from './no-answer.ts';
import type { Answerer, AnswerOf, AskedOf, QuestionKinds } from './questions.ts';

/** How much may be under way on a line, and how long an answer may take. */
export type LineLimits = Readonly<{ questionsMax: number; answerMs: number }>;

/** What holds when nothing else is said. */
export const lineLimits: LineLimits = { questionsMax: 256, answerMs: 30_000 };

const message = z.union([
  z.object({ kind: z.literal('question'), number: z.int(), about: z.string(), value: z.unknown() }),
  z.object({ kind: z.literal('answer'), number: z.int(), value: z.unknown() }),
  z.object({ kind: z.literal('fault'), number: z.int(), words: z.string() }),
]);

/** What goes over a line. */
export type LineMessage = z.output<typeof message>;

/** What is waited for. */
type Waiting = Readonly<{
  take: (value: unknown) => void;
  fail: (error: Error) => void;
  timer: NodeJS.Timeout;
}>;

export type LineOptions<Out extends QuestionKinds, In extends QuestionKinds> = Readonly<{
  /** What may be asked of the other end. */
  out: Out;
  /** What the other end may ask, and who answers. */
  in: In;
  answerer: Answerer<In>;
  /** Carries a message; false: there is nobody there. */
  post: (message: LineMessage) => boolean;
  limits?: Partial<LineLimits>;
}>;

/** One end of the line between a primary and a worker: questions with their answers, in both directions. */
export class Line<Out extends QuestionKinds, In extends QuestionKinds> {
  readonly #options: LineOptions<Out, In>;
  readonly #limits: LineLimits;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #isClosed = false;

  constructor(options: LineOptions<Out, In>) {
    this.#options = options;
    this.#limits = { ...lineLimits, ...options.limits };
  }

  /** Whether the other end is gone. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Questions that wait for their answers. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Asks the other end.
   * @param answerMs - how long the answer may take.
   * @throws NoAnswer
   */
  ask<Kind extends keyof Out & string>(
    about: Kind,
    value: AskedOf<Out, Kind>,
    answerMs: number = this.#limits.answerMs,
  ): Promise<AnswerOf<Out, Kind>> {
    if (this.#isClosed) return Promise.reject(new NoAnswer('nobody is there'));
    if (this.#waiting.size >= this.#limits.questionsMax)
      return Promise.reject(new NoAnswer('too many questions wait for their answers'));
    const number = ++this.#number;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        if (this.#leave(number)) reject(error);
      };
      const take = (answer: unknown): void => {
        const read = this.#options.out[about]?.answered.safeParse(answer);
        if (read?.success !== true) fail(new NoAnswer(`the answer to "${about}" is none`));
        else if (this.#leave(number)) resolve(read.data as AnswerOf<Out, Kind>);
      };
      const timer = setTimeout(() => fail(new NoAnswer(`no answer after ${answerMs} ms`)), answerMs);
      this.#waiting.set(number, { take, fail, timer });
      if (!this.#options.post({ kind: 'question', number, about, value }))
        fail(new NoAnswer('nobody is there'));
    });
  }

  /** Takes in what came. What is no message of a line is passed over. */
  take(received: unknown): void {
    const read = message.safeParse(received);
    if (!read.success) return;
    const { data } = read;
    switch (data.kind) {
      case 'question':
        void this.#answer(data.number, data.about, data.value);
        return;
      case 'answer':
        this.#waiting.get(data.number)?.take(data.value);
        return;
      case 'fault':
        this.#waiting.get(data.number)?.fail(new NoAnswer(data.words));
    }
  }

  /** The other end is gone: whoever waits is told so. */
  close(): void {
    this.#isClosed = true;
    for (const { fail } of [...this.#waiting.values()]) fail(new NoAnswer('nobody is there any more'));
  }

  /** @returns whether it was waited for. */
  #leave(number: number): boolean {
    clearTimeout(this.#waiting.get(number)?.timer);
    return this.#waiting.delete(number);
  }

  async #answer(number: number, about: string, value: unknown): Promise<void> {
    const { post } = this.#options;
    try {
      post({ kind: 'answer', number, value: await this.#answerTo(about, value) });
    } catch (error) {
      post({ kind: 'fault', number, words: problemText(error) });
    }
  }

  /** @throws NoAnswer, and what the answerer throws. */
  async #answerTo(about: string, value: unknown): Promise<unknown> {
    const kinds = this.#options.in;
    const kind = Object.hasOwn(kinds, about) ? kinds[about] : undefined;
    if (kind === undefined) throw new NoAnswer('nobody here knows that question');
    const read = kind.asked.safeParse(value);
    if (!read.success) throw new NoAnswer(`"${about}" was asked in a way that nobody understands`);
    return this.#options.answerer[about as keyof In](read.data as AskedOf<In, keyof In>);
  }
}
