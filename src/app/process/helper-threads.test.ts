import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INLINING_FLAG, raiseInliningLimit } from './helper-threads.ts';

it('uses a flag that this V8 has', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known).toContain(`${INLINING_FLAG} `);
  expect(raiseInliningLimit).not.toThrow();
});

const MODULE = join(import.meta.dirname, 'helper-threads.ts');

type Priorities = Readonly<{ returned: number; helpers: readonly number[]; others: readonly number[] }>;

/**
 * Thread priorities in a process after the call.
 * @param before - command that starts the process.
 */
function prioritiesAfter(serving: number, processors: number, before: readonly string[] = []): Priorities {
  const script = `
    const { deprioritizeHelperThreads } = await import(${JSON.stringify(MODULE)});
    const { readdirSync, readFileSync } = await import('node:fs');
    const { getPriority } = await import('node:os');
    const returned = deprioritizeHelperThreads(${serving}, ${processors});
    const found = { returned, helpers: [], others: [] };
    for (const task of readdirSync('/proc/self/task')) {
      const name = readFileSync('/proc/self/task/' + task + '/comm', 'utf8');
      (name.startsWith('V8Worker') ? found.helpers : found.others).push(getPriority(Number(task)));
    }
    console.log(JSON.stringify(found));
  `;
  const args = ['--input-type=module', '--eval', script];
  const [program = '', ...rest] = [...before, process.execPath, ...args];
  return JSON.parse(execFileSync(program, rest, { encoding: 'utf8' }));
}

/** Milliseconds of parallel scavenges by helper threads after the call. */
function helpersCollectFor(serving: number, processors: number): number {
  const script = `
    const { deprioritizeHelperThreads } = await import(${JSON.stringify(MODULE)});
    deprioritizeHelperThreads(${serving}, ${processors});
    console.log('called');
    for (let turn = 0; turn < 40; turn++) {
      globalThis.garbage = Array.from({ length: 100_000 }, (_, at) => [at]);
    }
  `;
  const args = ['--trace-gc-nvp', '--input-type=module', '--eval', script];
  const trace = execFileSync(process.execPath, args, { encoding: 'utf8' }).split('called\n')[1]!;
  const times = [...trace.matchAll(/background\.scavenge\.parallel=([0-9.]+)/g)].map(([, ms]) => Number(ms));
  expect(times.length).toBeGreaterThan(0);
  return times.reduce((sum, ms) => sum + ms, 0);
}

describe("V8's helper threads", () => {
  it('get a lower priority with a serving process per processor, and other threads do not', () => {
    const { returned, helpers, others } = prioritiesAfter(1, 1);
    expect(helpers.length).toBeGreaterThan(0);
    expect(returned).toBe(helpers.length);
    expect(new Set(helpers)).toEqual(new Set([Math.min(19, getPriority() + 10)]));
    expect(new Set(others)).toEqual(new Set([getPriority()]));
  });

  it('keep their priority if a processor is left for them', () => {
    const { returned, helpers } = prioritiesAfter(1, 2);
    expect(returned).toBe(0);
    expect(new Set(helpers)).toEqual(new Set([getPriority()]));
  });

  it('get a lower priority than a process started with nice', () => {
    const { helpers, others } = prioritiesAfter(1, 1, ['nice', '-n', '5']);
    const own = Math.min(19, getPriority() + 5);
    expect(new Set(others)).toEqual(new Set([own]));
    expect(new Set(helpers)).toEqual(new Set([Math.min(19, own + 10)]));
  });

  it('collect no young garbage when they have a lower priority', () => {
    expect(helpersCollectFor(1, 2)).toBeGreaterThan(0);
    expect(helpersCollectFor(1, 1)).toBe(0);
  });
});
