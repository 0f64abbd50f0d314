import { describe, expect, it } from 'vitest';
import { sessionOf } from './session-header.ts';

describe('the header that names a session', () => {
  it('may hold any text, and names none when it is empty', () => {
    expect([sessionOf('  order book 7 '), sessionOf(''), sessionOf('  '), sessionOf(undefined)]).toEqual([
      ...['order book 7', null, null, null],
    ]);
  });

  it('takes no more room for a long name, and keeps long names apart', () => {
    const names = ['a', 'b'].map((end) => sessionOf(`${'x'.repeat(5_000)}${end}`));
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toHaveLength(43);
  });
});
