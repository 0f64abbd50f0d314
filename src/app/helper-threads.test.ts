import { execFileSync } from 'node:child_process';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCAVENGE_FLAG } from './helper-threads.ts';

const MODULE = join(import.meta.dirname, 'helper-threads.ts');

type Told = Readonly<{ returned: number; helpers: readonly number[]; others: readonly number[] }>;

/** Calls it in a process of its own, and says which priorities the threads there have then. */
function prioritiesAfter(answering: number, processors: number): Told {
  const script = `
    const { putHelpersBehind } = await import(${JSON.stringify(MODULE)});
    const { readdirSync, readFileSync } = await import('node:fs');
    const { getPriority } = await import('node:os');
    const returned = putHelpersBehind(${answering}, ${processors});
    const told = { returned, helpers: [], others: [] };
    for (const task of readdirSync('/proc/self/task')) {
      const name = readFileSync('/proc/self/task/' + task + '/comm', 'utf8');
      (name.startsWith('V8Worker') ? told.helpers : told.others).push(getPriority(Number(task)));
    }
    console.log(JSON.stringify(told));
  `;
  const args = ['--input-type=module', '--eval', script];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

describe("V8's helper threads", () => {
  it('step back where every processor has a process that answers, and no other thread does', () => {
    const { returned, helpers, others } = prioritiesAfter(1, 1);
    expect(helpers.length).toBeGreaterThan(0);
    expect(returned).toBe(helpers.length);
    expect(new Set(helpers)).toEqual(new Set([10]));
    expect(new Set(others)).toEqual(new Set([getPriority()]));
    expect(prioritiesAfter(3, 2).returned).toBe(helpers.length);
  });

  it('stay as they are where a processor is left for them', () => {
    const { returned, helpers } = prioritiesAfter(1, 2);
    expect(returned).toBe(0);
    expect(new Set(helpers)).toEqual(new Set([getPriority()]));
  });

  it('are told by a flag that this V8 knows', () => {
    const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
    expect(known).toContain(`${SCAVENGE_FLAG.replace('--no-', '--')} `);
  });
});
