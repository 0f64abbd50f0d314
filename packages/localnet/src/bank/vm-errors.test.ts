import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { instructionErrors, transactionErrors } from './vm-errors.ts';

const folder = dirname(createRequire(import.meta.url).resolve('litesvm/package.json'));
const declarations = readFileSync(join(folder, 'dist', 'internal.d.ts'), 'utf8');

/** Members of an enum in the VM's declarations. */
function declared(name: string): string[] {
  const body = new RegExp(`enum ${name} \\{([^}]*)\\}`).exec(declarations)?.[1] ?? '';
  const names: string[] = [];
  for (const [, variant = '', number] of body.matchAll(/(\w+) = (\d+)/g)) names[Number(number)] = variant;
  return names;
}

describe('VM error numbers', () => {
  it.each([
    ['TransactionErrorFieldless', transactionErrors],
    ['InstructionErrorFieldless', instructionErrors],
  ] as const)('match its %s', (name, ours) => {
    expect(ours).toEqual(declared(name));
    expect(ours.length).toBeGreaterThan(30);
  });
});
