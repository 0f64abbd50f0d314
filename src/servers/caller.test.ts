import { describe, expect, it } from 'vitest';
import { sessionOf } from './caller.ts';

describe('sessionOf', () => {
  it('accepts any text and treats an empty one as no session', () => {
    expect([sessionOf('  order book 7 '), sessionOf(''), sessionOf('  '), sessionOf(undefined)]).toEqual([
      ...['order book 7', null, null, null],
    ]);
  });

  it('hashes long names without collisions', () => {
    const names = ['a', 'b'].map((end) => sessionOf(`${'x'.repeat(5_000)}${end}`));
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toHaveLength(43);
  });
});
