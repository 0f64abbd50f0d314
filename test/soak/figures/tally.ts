import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { redact } from '../../../src/base/log.ts';

/** Latencies in milliseconds. */
export type Times = Readonly<{ p50: number; p90: number; p99: number; max: number }>;

/** Counts of a period. */
export type Window = Readonly<{
  /** Start in seconds. */
  from: number;
  seconds: number;
  /** Responses, including expected errors, or messages. */
  count: number;
  /** Errors and wrong responses. */
  failed: number;
  /** null without samples. */
  times: Times | null;
}>;

/** Responses to requests, or messages of subscriptions. */
export type Counted = 'answers' | 'messages';

/** Results of an interface. */
export type TallyFigures = Readonly<{
  name: string;
  counted: Counted;
  /** What is timed. */
  timed: string;
  windows: readonly Window[];
  count: number;
  times: Times | null;
  /** Errors by code. */
  failed: Readonly<Record<string, number>>;
  /** Expected errors by code. */
  refused: Readonly<Record<string, number>>;
  /** Wrong responses: number, and the first ones. */
  wrong: number;
  wrongTexts: readonly string[];
}>;

/** A wrong response. */
export class WrongAnswer extends Error {}

/** An unexpected error; the message is its code. */
export class Refused extends Error {}

/**
 * From a microsecond to two minutes, with percentiles at most 1 % too high: about 20 KiB for any number of samples.
 */
const BOUNDS = { lowest: 1, highest: 120_000_000, figures: 2 };
const WRONG_TEXTS_MAX = 20;
const TEXT_MAX = 300;
/** Distinct codes; further ones count as `other`. */
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

/** Code of an error. */
function codeOf(fault: unknown): string {
  if (fault instanceof Refused) return fault.message;
  if (!(fault instanceof Error)) return 'unknown';
  const { code } = fault as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : fault.name;
}

/** Counts and times of one interface, per window and in total. */
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

  /** @param timed - such as `from sending a request to its response`. */
  constructor(name: string, counted: Counted, timed: string) {
    this.name = name;
    this.counted = counted;
    this.timed = timed;
  }

  /** Times a request. Counts errors and does not throw. */
  async measure(send: () => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    try {
      await send();
      this.took(performance.now() - startedAt);
    } catch (fault) {
      this.fail(fault);
    }
  }

  /** Counts one with its latency. */
  took(ms: number): void {
    const microseconds = Math.min(BOUNDS.highest, Math.max(BOUNDS.lowest, Math.round(ms * 1_000)));
    this.#histogram.record(microseconds);
    this.#wholeHistogram.record(microseconds);
    this.came();
  }

  /** Counts one without a latency. */
  came(): void {
    this.#count++;
    this.#wholeCount++;
  }

  /** Counts an expected error. */
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

  /** Starts the next window. */
  endWindow(from: number, seconds: number): void {
    const times = timesOf(this.#histogram);
    this.#windows.push({ from, seconds, count: this.#count, failed: this.#failedCount, times });
    this.#histogram.reset();
    this.#count = 0;
    this.#failedCount = 0;
  }

  /** Rate of the last window. */
  get lastRate(): number {
    const { count, seconds } = this.#windows.at(-1) ?? { count: 0, seconds: 1 };
    return count / seconds;
  }

  /** Errors and wrong responses so far. */
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
