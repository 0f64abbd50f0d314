import { describe, expect, it } from 'vitest';
import { UsageError } from '../command.ts';
import { removeValidatorFlags } from './validator-flags.ts';

describe('options of solana-test-validator', () => {
  it.each(['--clone', '-c', '--url', '-u', '--deactivate-feature', '--geyser-plugin-config'])(
    '%s is refused with the reason',
    (name) => {
      expect(() => removeValidatorFlags([name, 'x'])).toThrow(UsageError);
      expect(() => removeValidatorFlags([name, 'x'])).toThrow(`${name} is not supported: `);
    },
  );
});
