import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { logPrintedWarnings, openLog } from './log-output.ts';

function errorOutput(isTTY = false) {
  const written: string[] = [];
  return { written, isTTY, write: (text: string) => written.push(text) };
}

describe('the level "auto"', () => {
  it.each([
    ['auto', true, true, 'warn'],
    ['auto', true, false, 'info'],
    ['info', true, true, 'info'],
  ] as const)('%s on a terminal (%s) for a person (%s) is %s', (level, isTTY, forPerson, chosen) => {
    expect(openLog({ level, file: null }, errorOutput(isTTY), forPerson).level).toBe(chosen);
  });
});

describe('a log file', () => {
  it.skipIf(!existsSync('/dev/full'))(
    'that is full is replaced by standard error, with one notice',
    async () => {
      const errors = errorOutput();
      const log = openLog({ level: 'auto', file: '/dev/full' }, errors, false);
      log.info('one');
      log.info('two');
      await vi.waitFor(() => expect(errors.written).not.toEqual([]));
      log.info('three');
      expect(errors.written[0]).toBe(
        'solway: log.file: writing to /dev/full failed: the disk is full: free some space (ENOSPC); logging to standard error\n',
      );
      expect(errors.written.slice(1)).toEqual([expect.stringContaining('"msg":"three"')]);
    },
  );
});

it('logs warnings that libraries print', () => {
  const printed = vi.spyOn(console, 'warn');
  const errors = errorOutput();
  logPrintedWarnings(openLog({ level: 'auto', file: null }, errors, false));
  console.warn('[WARN] %s servers', 2);
  printed.mockRestore();
  expect(errors.written.map((line) => JSON.parse(line) as object)).toMatchObject([
    { msg: 'Warning of a library', text: '[WARN] 2 servers' },
  ]);
});
