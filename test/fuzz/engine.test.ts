import { describe, expect, it } from 'vitest';
import { type RanFunction, Reached } from './engine/coverage.ts';
import { Explorer } from './engine/explore.ts';
import { minimise } from './engine/minimise.ts';
import { createRandom, nextInput } from './engine/mutate.ts';
import type { FuzzTarget } from './engine/target.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const seed = Buffer.from('{"a":[1,2]}');

const ran = (name: string, ...idle: [number, number][]): RanFunction => ({
  ...{ file: 'a.ts', name, start: name.length, idle },
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
    const target: FuzzTarget = {
      ...{ name: 'a', seeds: [seed] },
      fuzz: (input) => {
        if (input.includes(0xfe)) throw new Error('met 254');
        return true;
      },
    };
    let runs = 0;
    const take = (): RanFunction[] => [ran(runs++ === 0 ? 'a' : 'new')];
    const options = { seed: 1, cpuMs: 10_000, first: [seed] };
    const explored = await new Explorer(target, { take }, new Reached(), options).run();
    expect(text(explored.failure?.input ?? new Uint8Array())).toContain('\xfe');
    expect(explored.failure?.text).toContain('met 254');
    expect(explored.runs).toBeGreaterThan(1);
  });

  it('reports new coverage for code that never ran before', () => {
    const reached = new Reached();
    reached.add([ran('a', [10, 20], [30, 40])]);
    expect(reached.isNew([ran('a', [0, 50])])).toBe(false);
    expect(reached.isNew([ran('a', [15, 20], [30, 40])])).toBe(true);
    reached.add([ran('a', [30, 40])]);
    expect(reached.isNew([ran('a', [10, 20], [30, 40])])).toBe(false);
    expect(reached.isNew([ran('bc')])).toBe(true);
  });

  it('minimizes an input', async () => {
    const input = Buffer.from(`${'x'.repeat(500)}needle${'y'.repeat(700)}`);
    const least = await minimise(input, async (one) => text(one).includes('needle'), 1_000);
    expect(text(least)).toBe('needle');
  });
});
