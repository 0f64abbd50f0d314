import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { redact } from '../../../src/base/log.ts';

/** How long something took, in milliseconds. */
export type Times = Readonly<{ p50: number; p90: number; p99: number; max: number }>;

/** What happened in a stretch of time. */
export type Window = Readonly<{
  /** When it began, in seconds. */
  from: number;
  seconds: number;
  /** Answers, refusals that had to be among them, or messages. */
  count: number;
  /** What was no answer, and answers that were not true. */
  failed: number;
  /** null where nothing was timed. */
  times: Times | null;
}>;

/** What is counted: answers to what was asked, or messages of what is listened to. */
export type Counted = 'answers' | 'messages';

/** What came of a surface, whole. */
export type TallyFigures = Readonly<{
  name: string;
  counted: Counted;
  /** What its times are of. */
  timed: string;
  windows: readonly Window[];
  count: number;
  times: Times | null;
  /** By code: what was no answer. */
  failed: Readonly<Record<string, number>>;
  /** By code: refusals that were the right answer. */
  refused: Readonly<Record<string, number>>;
  /** Answers that were not true: how many, and the first of them. */
  wrong: number;
  wrongTexts: readonly string[];
}>;

/** An answer that says something else than what is true. */
export class WrongAnswer extends Error {}

/** A refusal that nothing called for; the message is its code. */
export class Refused extends Error {}

/**
 * From a microsecond to two minutes, and percentiles at most a hundredth above the true ones: some 20 KiB, however
 * many times are counted.
 */
const BOUNDS = { lowest: 1, highest: 120_000_000, figures: 2 };
const WRONG_TEXTS_MAX = 20;
const TEXT_MAX = 300;
/** Codes that are counted each; what comes beyond them is `other`. */
const CODES_MAX = 50;

const milliseconds = (microseconds: number): number => Math.round(microseconds) / 1_000;

function timesOf(histogram: RecordableHistogram): Times | null {
  if (histogram.count === 0) return null;
  const at = (percent: number): number => milliseconds(histogram.percentile(percent));
  return { p50: at(50), p90: at(90), p99: at(99), max: milliseconds(histogram.max) };
}

function countIn(counts: Map<string, number>, code: string): void {
  const name = counts.has(code) || counts.size < CODES_MAX ? code : 'other';
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** What a caught fault is counted as. */
function codeOf(fault: unknown): string {
  if (fault instanceof Refused) return fault.message;
  if (!(fault instanceof Error)) return 'unknown';
  const { code } = fault as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : fault.name;
}

/** Counts and times what one surface does, in windows of time and in all. */
export class Tally {
  readonly name: string;
  readonly counted: Counted;
  readonly timed: string;
  readonly #windows: Window[] = [];
  readonly #histogram = createHistogram(BOUNDS);
  readonly #wholeHistogram = createHistogram(BOUNDS);
  readonly #failed = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #wrongTexts: string[] = [];
  #wrong = 0;
  #count = 0;
  #wholeCount = 0;
  #failedCount = 0;
  #failures = 0;

  /** @param timed - what its times are of: `from sending a request to its answer`. */
  constructor(name: string, counted: Counted, timed: string) {
    this.name = name;
    this.counted = counted;
    this.timed = timed;
  }

  /** Times what is asked. Whatever it throws is counted and goes no further. */
  async measure(send: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    try {
      await send();
      this.took(performance.now() - startedAt);
    } catch (fault) {
      this.fail(fault);
    }
  }

  /** One more, that took so long. */
  took(ms: number): void {
    const microseconds = Math.min(BOUNDS.highest, Math.max(BOUNDS.lowest, Math.round(ms * 1_000)));
    this.#histogram.record(microseconds);
    this.#wholeHistogram.record(microseconds);
    this.came();
  }

  /** One more, of which nobody knows how long it took. */
  came(): void {
    this.#count++;
    this.#wholeCount++;
  }

  /** A refusal was the right answer. */
  refusedRightly(code: string): void {
    countIn(this.#refused, code);
  }

  fail(fault: unknown): void {
    this.#failedCount++;
    this.#failures++;
    if (!(fault instanceof WrongAnswer)) {
      countIn(this.#failed, codeOf(fault));
      return;
    }
    this.#wrong++;
    if (this.#wrongTexts.length < WRONG_TEXTS_MAX)
      this.#wrongTexts.push(redact(fault.message).slice(0, TEXT_MAX));
  }

  /** Ends a window and begins the next. */
  endWindow(from: number, seconds: number): void {
    const times = timesOf(this.#histogram);
    this.#windows.push({ from, seconds, count: this.#count, failed: this.#failedCount, times });
    this.#histogram.reset();
    this.#count = 0;
    this.#failedCount = 0;
  }

  /** How many came a second in the last window. */
  get lastRate(): number {
    const { count, seconds } = this.#windows.at(-1) ?? { count: 0, seconds: 1 };
    return count / seconds;
  }

  /** What was no answer or not true, so far. */
  get failures(): number {
    return this.#failures;
  }

  get figures(): TallyFigures {
    return {
      ...{ name: this.name, counted: this.counted, timed: this.timed },
      ...{ windows: this.#windows, count: this.#wholeCount },
      ...{ times: timesOf(this.#wholeHistogram), wrong: this.#wrong, wrongTexts: this.#wrongTexts },
      failed: Object.fromEntries(this.#failed),
      refused: Object.fromEntries(this.#refused),
    };
  }
}
