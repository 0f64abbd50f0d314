import { describe, expect, it } from 'vitest';
import { methodNameAt } from './method-names.ts';
import { methods } from './methods.ts';

const at = (text: string): string | null => {
  const bytes = Buffer.from(`"${text}"`);
  return methodNameAt(bytes, 1, bytes.length - 1);
};

describe('the name of a method in a body', () => {
  it('is found for each of the table', () => {
    for (const name of Object.keys(methods)) expect(at(name)).toBe(name);
  });

  it.each([
    '',
    'getSlo',
    'getSlots',
    'GetSlot',
    'getslot',
    'getSlot ',
    'constructor',
    'gétSlo',
    'x'.repeat(200),
  ])('is none for %j', (text) => {
    expect(at(text)).toBeNull();
  });
});
