import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INLINING_FLAG, raiseInliningLimit } from './helper-threads.ts';

it('this V8 knows the flag that is set', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known).toContain(`${INLINING_FLAG} `);
  expect(raiseInliningLimit).not.toThrow();
});

const MODULE = join(import.meta.dirname, 'helper-threads.ts');

type Told = Readonly<{ returned: number; helpers: readonly number[]; others: readonly number[] }>;

/**
 * Calls it in a process of its own, and says which priorities the threads there have then.
 * @param before - words of a command that starts that process.
 */
function prioritiesAfter(answering: number, processors: number, before: readonly string[] = []): Told {
  const script = `
    const { deprioritizeHelperThreads } = await import(${JSON.stringify(MODULE)});
    const { readdirSync, readFileSync } = await import('node:fs');
    const { getPriority } = await import('node:os');
    const returned = deprioritizeHelperThreads(${answering}, ${processors});
    const told = { returned, helpers: [], others: [] };
    for (const task of readdirSync('/proc/self/task')) {
      const name = readFileSync('/proc/self/task/' + task + '/comm', 'utf8');
      (name.startsWith('V8Worker') ? told.helpers : told.others).push(getPriority(Number(task)));
    }
    console.log(JSON.stringify(told));
  `;
  const args = ['--input-type=module', '--eval', script];
  const [program = '', ...rest] = [...before, process.execPath, ...args];
  return JSON.parse(execFileSync(program, rest, { encoding: 'utf8' }));
}

/** Milliseconds for which helpers collected young garbage, as V8 tells, in a process that makes some after the call. */
function helpersCollectFor(answering: number, processors: number): number {
  const script = `
    const { deprioritizeHelperThreads } = await import(${JSON.stringify(MODULE)});
    deprioritizeHelperThreads(${answering}, ${processors});
    console.log('called');
    for (let turn = 0; turn < 40; turn++) {
      globalThis.kept = Array.from({ length: 100_000 }, (_, at) => [at]);
    }
  `;
  const args = ['--trace-gc-nvp', '--input-type=module', '--eval', script];
  const told = execFileSync(process.execPath, args, { encoding: 'utf8' }).split('called\n')[1]!;
  const times = [...told.matchAll(/background\.scavenge\.parallel=([0-9.]+)/g)].map(([, ms]) => Number(ms));
  expect(times.length).toBeGreaterThan(0);
  return times.reduce((sum, ms) => sum + ms, 0);
}

describe("V8's helper threads", () => {
  it('step back where every processor has a process that answers, and no other thread does', () => {
    const { returned, helpers, others } = prioritiesAfter(1, 1);
    expect(helpers.length).toBeGreaterThan(0);
    expect(returned).toBe(helpers.length);
    expect(new Set(helpers)).toEqual(new Set([Math.min(19, getPriority() + 10)]));
    expect(new Set(others)).toEqual(new Set([getPriority()]));
    expect(prioritiesAfter(3, 2).returned).toBe(helpers.length);
  });

  it('stay as they are where a processor is left for them', () => {
    const { returned, helpers } = prioritiesAfter(1, 2);
    expect(returned).toBe(0);
    expect(new Set(helpers)).toEqual(new Set([getPriority()]));
  });

  it('step behind a process that was itself put behind', () => {
    const { helpers, others } = prioritiesAfter(1, 1, ['nice', '-n', '5']);
    const own = Math.min(19, getPriority() + 5);
    expect(new Set(others)).toEqual(new Set([own]));
    expect(new Set(helpers)).toEqual(new Set([Math.min(19, own + 10)]));
  });

  it('collect no young garbage where they step back, and do elsewhere', () => {
    expect(helpersCollectFor(1, 2)).toBeGreaterThan(0);
    expect(helpersCollectFor(1, 1)).toBe(0);
  });
});
