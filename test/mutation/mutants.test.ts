import { describe, expect, it } from 'vitest';
import { mutantsOf, withMutants } from './mutants.ts';

const text = `export const LIMIT = 3;
export function grade(value: number, strict = true): string {
  if (strict && value === LIMIT) return 'exact';
  return value < 10 ? 'low' : 'high';
}
`;

describe('mutants', () => {
  const mutants = mutantsOf('grade.ts', text).map((mutant, id) => ({ ...mutant, id }));

  it('are made of the code in functions, not of types or constants', () => {
    expect(mutants.map(({ line, change }) => [line, change])).toEqual([
      [2, 'true to false'],
      [3, 'negated if'],
      [3, '&& to ||'],
      [3, '=== to !=='],
      [4, 'negated condition'],
      [4, '< to <='],
      [4, '10 to 10 + 1'],
    ]);
  });

  it('keep an else with its if', () => {
    const branches = 'function log(on) { if (on) start(); else stop(); }';
    const removed = mutantsOf('log.ts', branches).filter(({ change }) => change === 'statement removed');
    expect(withMutants(branches, [{ ...removed[0]!, id: 1 }])).toContain(
      'if (on) { if (!globalThis.__mutant?.(1)) { start(); } } else stop();',
    );
  });

  it('change nothing until one is chosen', () => {
    const one = mutants.find(({ change }) => change === '< to <=')!;
    expect(withMutants(text, [one])).toContain(
      'return (globalThis.__mutant?.(5) ? ((value) <= (10)) : (value < 10)) ? ',
    );
  });
});
