import { describe, expect, it } from 'vitest';
import { UsageError } from '../command.ts';
import { removeValidatorFlags } from './validator-flags.ts';

describe('options of solana-test-validator', () => {
  it('that change nothing here are passed over with their values, and noted', () => {
    const given = [
      '--reset',
      '--gossip-host',
      '127.0.0.1',
      '--dynamic-port-range=8002-8020',
      '--log',
      '--quiet',
    ];
    expect(removeValidatorFlags(given)).toEqual({
      rest: ['--reset', '--quiet'],
      notes: [
        '--gossip-host has no effect: the ledger has no gossip',
        '--dynamic-port-range has no effect: the ledger has no gossip',
        '--log has no effect: logs always go to standard error',
      ],
    });
  });

  it.each(['--clone', '-c', '--url', '-u', '--deactivate-feature', '--geyser-plugin-config'])(
    '%s is refused with the reason',
    (name) => {
      expect(() => removeValidatorFlags([name, 'x'])).toThrow(UsageError);
      expect(() => removeValidatorFlags([name, 'x'])).toThrow(`${name} is not supported: `);
    },
  );
});
