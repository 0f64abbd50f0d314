import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

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
});
