import { createHistogram } from 'node:perf_hooks';
import { redact } from '../../src/base/log.ts';

export class WrongAnswer extends Error {}

/** An unexpected error; the message is its code. */
export class Refused extends Error {}

/** One microsecond to two minutes; percentiles are at most 1 % too high. */
const BOUNDS = { lowest: 1, highest: 120_000_000, figures: 2 };
const WRONG_TEXTS_MAX = 20;
const TEXT_MAX = 300;
/** Maximum number of distinct codes; further ones count as `other`. */
const CODES_MAX = 50;

function codeOf(fault: unknown): string {
  if (fault instanceof Refused) return fault.message;
  if (!(fault instanceof Error)) return 'unknown';
  const { code } = fault as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : fault.name;
}

export class Tally {
  readonly name: string;
  readonly counted: 'answers' | 'messages';
  /** Number of messages, or of responses including expected errors. */
  count = 0;
  /** Number of expected errors. */
  refused = 0;
  readonly failed: Record<string, number> = {};
  /** Number of wrong responses, and the first of them. */
  wrong = 0;
  readonly wrongTexts: string[] = [];
  readonly #histogram = createHistogram(BOUNDS);

  constructor(name: string, counted: 'answers' | 'messages') {
    this.name = name;
    this.counted = counted;
  }

  async measure(send: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    try {
      await send();
      this.took(performance.now() - startedAt);
    } catch (fault) {
      this.fail(fault);
    }
  }

  took(ms?: number): void {
    this.count++;
    if (ms === undefined) return;
    this.#histogram.record(Math.min(BOUNDS.highest, Math.max(BOUNDS.lowest, Math.round(ms * 1_000))));
  }

  fail(fault: unknown): void {
    if (fault instanceof WrongAnswer) {
      this.wrong++;
      if (this.wrongTexts.length < WRONG_TEXTS_MAX)
        this.wrongTexts.push(redact(fault.message).slice(0, TEXT_MAX));
      return;
    }
    const code = codeOf(fault);
    const name = code in this.failed || Object.keys(this.failed).length < CODES_MAX ? code : 'other';
    this.failed[name] = (this.failed[name] ?? 0) + 1;
  }

  /** Number of errors, excluding wrong responses. */
  get errors(): number {
    return Object.values(this.failed).reduce((sum, times) => sum + times, 0);
  }

  percentile(percent: number): number | null {
    return this.#histogram.count === 0 ? null : Math.round(this.#histogram.percentile(percent)) / 1_000;
  }
}
