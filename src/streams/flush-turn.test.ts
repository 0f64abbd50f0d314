import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FlushTurn } from './flush-turn.ts';

function counting() {
  const counted = { flushes: 0, flush: () => void counted.flushes++ };
  return counted;
}

describe('a flush', () => {
  it('comes at the end of the turn in which it was asked for, once for all that asked', async () => {
    const flushes = new FlushTurn();
    const [one, other] = [counting(), counting()];
    flushes.ask(one);
    flushes.ask(other);
    expect([one.flushes, other.flushes]).toEqual([0, 0]);
    await turn();
    expect([one.flushes, other.flushes]).toEqual([1, 1]);
  });

  it('waits, where it may, when it is asked for soon after the last', async () => {
    const flushes = new FlushTurn(50);
    const one = counting();
    flushes.ask(one);
    await turn();
    const flushedAt = performance.now();
    expect(one.flushes).toBe(1);
    flushes.ask(one);
    await turn();
    expect(one.flushes).toBe(1);
    await expect.poll(() => one.flushes, { interval: 1 }).toBe(2);
    // Timers count in whole milliseconds.
    expect(performance.now() - flushedAt).toBeGreaterThan(48);
  });
});
