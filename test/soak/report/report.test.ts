import { describe, expect, it } from 'vitest';
import type { ProcessWindow } from '../figures/process-watch.ts';
import { Tally, WrongAnswer } from '../figures/tally.ts';
import { html } from './html.ts';
import { isWhole, type Outcome, outcomeOf } from './outcome.ts';
import {
  answersOutcome,
  descriptorsOutcome,
  endsOutcome,
  givenBackOutcome,
  isStarved,
  loggedOutcome,
  memoryOutcome,
} from './outcomes.ts';
import { pageOf } from './page.ts';
import { axisText, linearTicks, linePath, logTicks, plotOf } from './plot.ts';
import type { SoakResult } from './soak-result.ts';

const NASTY = `</title><script>alert("1")</script>'&`;
const ESCAPED = '&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;';

/** Whether the ends of connections, so many beyond the others' in each window, are found to stay. */
const endsOf = (beyond: readonly number[], counted = beyond.length): boolean | null =>
  endsOutcome(
    beyond.map((one, window) => ({ from: window * 10, beyond: one })),
    windowsOf(Array(counted).fill(100)),
    counted * 10,
  ).isFulfilled;

const windowsOf = (mib: readonly number[], descriptors: readonly number[] = []): ProcessWindow[] =>
  mib.map((residentMib, at) => ({
    ...{
      from: at * 10,
      cpuShare: 0.5,
      waitedShare: 0.1,
      residentMib,
      heapMib: null,
      externalMib: null,
      loopDelayMs: 1,
    },
    descriptors: descriptors[at] ?? 20,
  }));

describe('html', () => {
  it('escapes whatever is put in, and not what is HTML itself', () => {
    const inner = html`<b title="${NASTY}">${NASTY}</b>`;
    expect(html`<p>${[inner, 1, null, 'a<b']}</p>`.text).toBe(
      `<p><b title="${ESCAPED}">${ESCAPED}</b>1a&lt;b</p>`,
    );
  });
});

describe('a plot', () => {
  const same = (value: number): number => value;

  it('draws a line through its points, broken where nothing was measured', () => {
    const points = [
      [0, 1],
      [1, 2.04],
      [2, null],
      [3, 4],
      [4, null],
      [5, 6],
      [6, 7],
    ] as const;
    expect(linePath(points, same, (value) => 10 - value)).toBe('M0 9L1 8M3 6h0M5 4L6 3');
  });

  it('has round numbers from zero to above what it shows', () => {
    expect(linearTicks(7)).toEqual([0, 2, 4, 6, 8]);
    expect(linearTicks(0.3)).toEqual([0, 0.1, 0.2, 0.3]);
    expect(linearTicks(0)).toEqual([0, 1]);
    expect(logTicks(0.3, 42)).toEqual([0.1, 1, 10, 100]);
    expect(logTicks(5, 5)).toEqual([1, 10]);
    expect(logTicks(Number.POSITIVE_INFINITY, 0)).toEqual([1, 10]);
    expect([0.25, 950, 1_500, 8e7].map(axisText)).toEqual(['0.25', '950', '1.5k', '80M']);
  });

  it('puts known points in known places of the picture', () => {
    const series = [{ name: NASTY, points: [[0, 0] as const, [100, 10] as const] }];
    const { text } = plotOf({ title: 'rate', unit: 'a second', series, seconds: 100 });
    expect(text).toContain('d="M48 174L540 20"');
    expect(text).toContain(`<title>${ESCAPED}</title>`);
    const log = plotOf({ title: 'times', unit: 'ms', series, seconds: 100, isLog: true });
    expect(log.text).toContain('d="M48 174L540 20"');
  });
});

describe('a verdict', () => {
  it('says of memory that grew beyond the bound that the promise was broken, and of less that it was kept', () => {
    const flat = [...Array(8).fill(100), ...Array(5).fill(100), ...Array(5).fill(114)];
    const grown = [...Array(13).fill(100), ...Array(5).fill(116)];
    expect(memoryOutcome({ name: 'gateway', windows: windowsOf(flat) }, 180, false).isFulfilled).toBe(true);
    expect(memoryOutcome({ name: 'gateway', windows: windowsOf(grown) }, 180, false).isFulfilled).toBe(false);
    expect(memoryOutcome({ name: 'gateway', windows: windowsOf(grown) }, 180, true).isFulfilled).toBe(null);
  });

  it('sees a process that waited for processors in any window', () => {
    const [first, ...others] = windowsOf([1, 1, 1]);
    expect(isStarved({ name: 'gateway', windows: [first!, ...others] })).toBe(false);
    expect(isStarved({ name: 'gateway', windows: [{ ...first!, waitedShare: 0.6 }, ...others] })).toBe(true);
  });

  it('leaves out the beginning, and does not judge what is too short', () => {
    const settling = [...Array(6).fill(10), ...Array(6).fill(100)];
    expect(memoryOutcome({ name: 'gateway', windows: windowsOf(settling) }, 120, false).isFulfilled).toBe(
      true,
    );
    const short = memoryOutcome({ name: 'gateway', windows: windowsOf([1, 2, 3]) }, 30, false);
    expect([short.isFulfilled, isWhole([short])]).toEqual([null, true]);
  });

  it('sees descriptors that become more', () => {
    const open = Array.from({ length: 18 }, (_, at) => 20 + at * 3);
    const windows = windowsOf(Array(18).fill(100), open);
    expect(descriptorsOutcome({ name: 'gateway', windows }, 180).isFulfilled).toBe(false);
  });

  it('takes no hump of connections for a leak', () => {
    const open = Array.from({ length: 18 }, (_, at) => (at === 15 ? 200 : 20));
    const windows = windowsOf(Array(18).fill(100), open);
    expect(descriptorsOutcome({ name: 'gateway', windows }, 180).isFulfilled).toBe(true);
  });

  it('sees descriptors that become more than any hump, though few are open in between', () => {
    const open = Array.from({ length: 18 }, (_, at) => (at < 13 ? 20 : 20 + (at - 12) * 60));
    const windows = windowsOf(Array(18).fill(100), open);
    expect(descriptorsOutcome({ name: 'gateway', windows }, 180).isFulfilled).toBe(false);
  });

  it('sees what is open at one end of a connection only, whichever end it is, and when it comes', () => {
    const judged = (at: number, beyond: number): boolean | null =>
      endsOf(Array.from({ length: 18 }, (_, window) => (window >= at ? beyond : -28)));
    expect([judged(17, -23), judged(17, -22), judged(17, -33), judged(17, -34)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect([judged(8, -22), judged(17, 40)]).toEqual([false, false]);
  });

  it('sees ends that become more slowly', () => {
    expect(endsOf(Array.from({ length: 18 }, (_, window) => -28 + Math.floor(window / 4)))).toBe(true);
    expect(endsOf(Array.from({ length: 18 }, (_, window) => -28 + Math.floor(window / 2)))).toBe(false);
  });

  it('does not take ends that were not counted for ends that stayed', () => {
    expect(endsOf([], 18)).toBe(false);
    expect(endsOf(Array(17).fill(-28), 18)).toBe(false);
    expect(endsOf([1], 1)).toBe(null);
  });

  it('sees what is open when all have gone', () => {
    const after = (count: number | null): boolean | null =>
      givenBackOutcome({ name: 'gateway', when: 'then', before: 40, after: count }).isFulfilled;
    expect([30, 40, 41, 42, null].map(after)).toEqual([true, true, true, false, false]);
    expect(givenBackOutcome({ name: 'ledger', when: 'then', before: null, after: 3 }).isFulfilled).toBe(
      false,
    );
  });

  it('is broken by an error, by an answer that is not true, and by silence', () => {
    const [silent, wrong] = [new Tally('a', 'answers', ''), new Tally('b', 'answers', '')];
    wrong.took(1);
    expect(answersOutcome(wrong.figures).isFulfilled).toBe(true);
    wrong.fail(new WrongAnswer('no'));
    expect(answersOutcome(wrong.figures)).toMatchObject({ isFulfilled: false, faults: ['no'] });
    expect(answersOutcome(silent.figures).isFulfilled).toBe(false);
  });

  it('lets a warning in the log pass, and no error', () => {
    const warned = { level: 'warn', message: 'late', times: 2, last: '{}' };
    expect(loggedOutcome([warned]).isFulfilled).toBe(true);
    expect(loggedOutcome([warned, { ...warned, level: 'error' }]).isFulfilled).toBe(false);
  });

  it('shows the first faults and how many more there are', () => {
    const { faults } = outcomeOf(
      'x',
      '',
      Array.from({ length: 12 }, (_, at) => `fault ${at}`),
    );
    expect([faults.length, faults.at(-1)]).toEqual([11, 'and 2 more']);
  });
});

describe('the page', () => {
  const tally = new Tally(NASTY, 'answers', NASTY);
  tally.took(1);
  tally.fail(new WrongAnswer(NASTY));
  tally.fail(Object.assign(new Error(), { code: NASTY }));
  tally.refusedRightly(NASTY);
  tally.endWindow(0, 10);
  const outcomes: Outcome[] = [answersOutcome(tally.figures)];
  const result: SoakResult = {
    ...{ command: NASTY, commit: NASTY, node: NASTY, machine: NASTY, begunAt: NASTY, held: NASTY },
    ...{ seconds: 10, slots: 25, outcomes, tallies: [tally.figures], logged: [] },
    load: [{ name: NASTY, perSecond: 1, leftOut: 0 }],
    processes: [{ name: NASTY, windows: windowsOf([100]) }],
    gauges: [{ second: 0, websockets: 1, streams: 1, queuedBytes: 0 }],
  };

  it('holds no text that was not escaped, no script and nothing from elsewhere', () => {
    const page = pageOf({ ...result, logged: [{ level: NASTY, message: NASTY, times: 1, last: NASTY }] });
    expect(page).not.toContain('<script');
    expect(page).not.toContain(NASTY);
    expect(page).toContain(ESCAPED);
    expect(page.match(/\b(?:src|href)=|url\(|@import|https?:/g)).toBeNull();
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('says at its top whether every promise was kept', () => {
    const stored = outcomeOf('a promise', 'found', []);
    expect(pageOf({ ...result, outcomes })).toContain('1 of 1 promises were broken.');
    expect(pageOf({ ...result, outcomes: [stored] })).toContain('All 1 promises that were judged were kept.');
  });
});
