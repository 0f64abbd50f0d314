import { describe, expect, it } from 'vitest';
import type { ProcessWindow } from '../figures/process-watch.ts';
import { Tally, WrongAnswer } from '../figures/tally.ts';
import { markdownOf } from './markdown.ts';
import { isWhole, type Outcome, outcomeOf } from './outcome.ts';
import {
  answersOutcome,
  descriptorsOutcome,
  endsOutcome,
  isStarved,
  loggedOutcome,
  memoryOutcome,
  releasedOutcome,
} from './outcomes.ts';
import type { SoakResult } from './soak-result.ts';

const common = { cpuShare: 0.5, waitedShare: 0.1, heapMib: null, externalMib: null, loopDelayMs: 1 };

/** Windows of ten seconds. */
const windowsOf = (mib: readonly number[], descriptors: readonly number[] = []): ProcessWindow[] =>
  mib.map((residentMib, at) => ({
    ...{ ...common, from: at * 10, residentMib, descriptors: descriptors[at] ?? 20 },
  }));

const times = (count: number, valueAt: (at: number) => number): number[] =>
  Array.from({ length: count }, (_, at) => valueAt(at));

describe('a verdict', () => {
  const memory = (mib: readonly number[], wasStarved = false): boolean | null =>
    memoryOutcome({ name: 'gateway', windows: windowsOf(mib) }, mib.length * 10, wasStarved).isFulfilled;

  it('requires flat memory, unless processes were starved', () => {
    const grown = times(18, (at) => (at < 13 ? 100 : 116));
    expect(memory(times(18, (at) => (at < 13 ? 100 : 114)))).toBe(true);
    expect([memory(grown), memory(grown, true)]).toEqual([false, null]);
  });

  it('ignores the start, and does not judge short runs', () => {
    expect(memory(times(12, (at) => (at < 6 ? 10 : 100)))).toBe(true);
    expect(memory([1, 2, 3])).toBe(null);
    expect(isWhole([memoryOutcome({ name: 'gateway', windows: windowsOf([1, 2, 3]) }, 30, false)])).toBe(
      true,
    );
  });

  it('detects starvation in any window', () => {
    const [first, ...others] = windowsOf([1, 1, 1]);
    expect(isStarved({ name: 'gateway', windows: [first!, ...others] })).toBe(false);
    expect(isStarved({ name: 'gateway', windows: [{ ...first!, waitedShare: 0.6 }, ...others] })).toBe(true);
  });

  it.each([
    ['a hump', (at: number) => (at === 15 ? 200 : 20), true],
    ['slow growth', (at: number) => 20 + at * 3, false],
    ['growth of peaks', (at: number) => (at < 13 ? 20 : 20 + (at - 12) * 60), false],
  ])('judges descriptors with %s', (_, valueAt, expected) => {
    const windows = windowsOf(Array(18).fill(100), times(18, valueAt));
    expect(descriptorsOutcome({ name: 'gateway', windows }, 180).isFulfilled).toBe(expected);
  });

  it.each([
    ['5 more at the end', (at: number) => (at >= 17 ? -23 : -28), true],
    ['6 more at the end', (at: number) => (at >= 17 ? -22 : -28), false],
    ['5 fewer at the end', (at: number) => (at >= 17 ? -33 : -28), true],
    ['6 fewer at the end', (at: number) => (at >= 17 ? -34 : -28), false],
    ['6 more from the middle on', (at: number) => (at >= 8 ? -22 : -28), false],
    ['many more at the end', (at: number) => (at >= 17 ? 40 : -28), false],
    ['a drift of 2', (at: number) => -28 + Math.floor(at / 4), true],
    ['a larger drift', (at: number) => -28 + Math.floor(at / 2), false],
  ])('judges connection ends with %s', (_, valueAt, expected) => {
    expect(ends(times(18, valueAt))).toBe(expected);
  });

  const ends = (beyond: readonly number[], counted = beyond.length): boolean | null =>
    endsOutcome(
      beyond.map((one, at) => ({ from: at * 10, beyond: one })),
      windowsOf(Array(counted).fill(100)),
      counted * 10,
    ).isFulfilled;

  it('requires a count of connection ends in every window', () => {
    expect([ends([], 18), ends(Array(17).fill(-28), 18), ends([1], 1)]).toEqual([false, false, null]);
  });

  it('requires that files and sockets are released', () => {
    const released = (before: number | null, after: number | null): boolean | null =>
      releasedOutcome({ name: 'gateway', when: 'then', before, after }).isFulfilled;
    expect([30, 40, 41, 42, null].map((after) => released(40, after))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(released(null, 3)).toBe(false);
  });

  it('requires responses, all of them right', () => {
    const [silent, wrong] = [new Tally('a', 'answers', ''), new Tally('b', 'answers', '')];
    wrong.took(1);
    expect(answersOutcome(wrong.figures).isFulfilled).toBe(true);
    wrong.fail(new WrongAnswer('no'));
    expect(answersOutcome(wrong.figures)).toMatchObject({ isFulfilled: false, faults: ['no'] });
    expect(answersOutcome(silent.figures).isFulfilled).toBe(false);
  });

  it('allows a warning in the log, and no error', () => {
    const warning = { level: 'warn', message: 'late', times: 2, last: '{}' };
    expect(loggedOutcome([warning]).isFulfilled).toBe(true);
    expect(loggedOutcome([warning, { ...warning, level: 'error' }]).isFulfilled).toBe(false);
  });

  it('shows the first faults and the number of others', () => {
    const { faults } = outcomeOf('x', '', Array(12).fill('fault'));
    expect([faults.length, faults.at(-1)]).toEqual([11, 'and 2 more']);
  });
});

describe('the report', () => {
  const tally = new Tally('REST', 'answers', '');
  tally.took(1);
  tally.fail(new WrongAnswer('a | b'));
  tally.fail(Object.assign(new Error(), { code: 'ECONNRESET' }));
  tally.refusedRightly('NOT_A_MINT');
  tally.endWindow(0, 10);
  const outcomes: Outcome[] = [answersOutcome(tally.figures)];
  const setting = {
    command: 'c',
    commit: 'abc',
    node: 'v24',
    machine: 'm',
    begunAt: '2026-01-01',
    held: 'h',
  };
  const result: SoakResult = {
    ...{ ...setting, seconds: 10, slots: 25, outcomes, tallies: [tally.figures] },
    load: [{ name: 'REST', perSecond: 1, skipped: 0 }],
    processes: [{ name: 'gateway', windows: windowsOf([100]) }],
    gauges: [{ second: 0, websockets: 1, streams: 1, queuedBytes: 0 }],
    logged: [{ level: 'warn', message: 'late', times: 2, last: '{"a":"x|y"}' }],
  };

  it('shows the verdict, errors, processes and log lines in tables', () => {
    const report = markdownOf(result);
    expect(report).toContain('**1 of 1 promises were broken.**');
    expect(report).toContain('| ✗ | REST: every request gets a right response |');
    expect(report).toContain('1 times ECONNRESET; a \\| b |');
    expect(report).toContain('| REST | expected error | NOT_A_MINT | 1 |');
    expect(report).toContain('| gateway | 100 to 100 █ | – |');
    expect(report).toContain('| warn | late | 2 | {"a":"x\\|y"} |');
    expect(report).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('shows whether all promises held, and how many were not judged', () => {
    const held = outcomeOf('a promise', 'found', []);
    const open = { ...held, isFulfilled: null };
    expect(markdownOf({ ...result, outcomes: [held, open] })).toContain(
      '**All 1 judged promises held.** 1 could not be judged.',
    );
  });
});
