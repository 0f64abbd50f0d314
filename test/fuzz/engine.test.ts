import { describe, expect, it } from 'vitest';
import { fitting } from './engine/corpus.ts';
import { type RanFunction, Reached } from './engine/coverage.ts';
import { Explorer } from './engine/explore.ts';
import { minimise } from './engine/minimise.ts';
import { createRandom, nextInput } from './engine/mutate.ts';
import { kindOf } from './engine/run-input.ts';
import type { FuzzTarget } from './engine/target.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const seed = Buffer.from('{"a":[1,2]}');

/** A function whose idle parts are these. */
const ran = (name: string, ...idle: [number, number][]): RanFunction => ({
  ...{ file: 'a.ts', name, start: name.length, idle },
});

const breaksOn = (byte: number): FuzzTarget => ({
  ...{ name: 'a', from: 'b', covers: ['c'], seeds: [seed] },
  fuzz: (input) => {
    if (input.includes(byte)) throw new Error(`met ${byte}`);
    return true;
  },
});

describe('the fuzz engine', () => {
  it('generates the same inputs from the same seed', () => {
    const inputs = (number: number): string[] => {
      const random = createRandom(number);
      return Array.from({ length: 50 }, () => text(nextInput([seed], random)));
    };
    expect(inputs(5)).toEqual(inputs(5));
    expect(inputs(5)).not.toEqual(inputs(6));
  });

  it('finds the input that breaks a target, and stops there', async () => {
    const explorer = new Explorer(breaksOn(0xfe), { take: () => [] }, new Reached(), {
      ...{ seed: 1, cpuMs: 10_000, first: [seed] },
    });
    const { failure, runs } = await explorer.run();
    expect(text(failure?.input ?? new Uint8Array())).toContain('\xfe');
    expect(failure?.text).toContain('met 254');
    expect(runs).toBeGreaterThan(1);
  });

  it('keeps the one input of many that reaches something new', async () => {
    let isReached = false;
    const target: FuzzTarget = {
      ...breaksOn(-1),
      fuzz: (input) => {
        isReached ||= input.length > seed.length;
        return true;
      },
    };
    const take = (): RanFunction[] => {
      const found = isReached;
      isReached = false;
      return found ? [ran('new')] : [];
    };
    const options = { seed: 1, cpuMs: 20, first: [seed] };
    const { found } = await new Explorer(target, { take }, new Reached(), options).run();
    expect(found.map(({ length }) => length > seed.length)).toEqual([true]);
  });

  it('finds new coverage by code that never ran before', () => {
    const reached = new Reached();
    expect(reached.add([ran('a', [10, 20], [30, 40])])).toBe(true);
    expect(reached.isNew([ran('a', [0, 50])])).toBe(false);
    expect(reached.isNew([ran('a', [15, 20], [30, 40])])).toBe(true);
    expect(reached.add([ran('a', [30, 40])])).toBe(true);
    expect(reached.isNew([ran('a', [10, 20], [30, 40])])).toBe(false);
    expect(reached.isNew([ran('bc')])).toBe(true);
  });

  it('minimises an input', async () => {
    const input = Buffer.from(`${'x'.repeat(500)}needle${'y'.repeat(700)}`);
    const least = await minimise(input, async (one) => text(one).includes('needle'), 1_000);
    expect(text(least)).toBe('needle');
  });

  it('distinguishes failures by place, or by message without numbers', () => {
    expect(kindOf('Error: 5\n    at a (b.ts:1:2)\n    at c')).toBe(kindOf('Error: 7\n    at a (b.ts:1:2)'));
    expect(kindOf('works on 5 for 10 ms')).toBe(kindOf('works on 77 for 8 ms'));
    expect(kindOf('one')).not.toBe(kindOf('another'));
  });

  it('limits the size of a corpus', () => {
    const stored = fitting([new Uint8Array(30), new Uint8Array(9_000), new Uint8Array(60)]);
    expect(stored.map(({ length }) => length)).toEqual([30, 60]);
  });
});
