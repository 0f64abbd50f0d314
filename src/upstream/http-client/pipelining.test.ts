import { describe, expect, it } from 'vitest';
import { Pipelining } from './pipelining.ts';

const SECOND = 1_000;

function respondPromptly(
  pipelining: Pipelining,
  batches: number,
  now: number,
  firstMs = 5,
  spreadMs = 0.5,
): void {
  for (let batch = 0; batch < batches; batch++) pipelining.onBatch(pipelining.limit, firstMs, spreadMs, now);
}

describe('the limit of adaptive pipelining', () => {
  it('starts at 1, grows to 8 with full prompt batches, and halves when batches are slow', () => {
    const pipelining = new Pipelining('auto');
    expect(pipelining.limit).toBe(1);
    respondPromptly(pipelining, 1_000, 0);
    expect(pipelining.limit).toBe(8);
    for (const [firstMs, spreadMs] of [
      [4, 1.1],
      [40, 10.1],
      [151, 0],
    ] as const)
      pipelining.onBatch(8, firstMs, spreadMs, 0);
    expect(pipelining.limit).toBe(4);
  });

  it('does not grow with batches that are not full', () => {
    const pipelining = new Pipelining('auto');
    respondPromptly(pipelining, 65, 0);
    for (let batch = 0; batch < 1_000; batch++) pipelining.onBatch(1, 5, 0, 0);
    respondPromptly(pipelining, 1, 0);
    expect(pipelining.limit).toBe(2);
  });

  it('falls to 1 at a fault, for a time that doubles', () => {
    const pipelining = new Pipelining('auto');
    let now = 0;
    for (const pause of [1, 2, 4, 8]) {
      respondPromptly(pipelining, 200, now);
      expect(pipelining.limit).toBeGreaterThan(1);
      pipelining.onFault(now);
      now += pause * SECOND - 1;
      respondPromptly(pipelining, 200, now);
      expect(pipelining.limit).toBe(1);
      now += 1;
    }
  });

  it.each([1, 3])('never exceeds %d if so configured', (max) => {
    const pipelining = new Pipelining(max);
    respondPromptly(pipelining, 1_000, 0);
    expect(pipelining.limit).toBe(max);
  });
});
