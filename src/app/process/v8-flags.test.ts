import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { INLINING_FLAG, raiseInliningLimit } from './v8-flags.ts';

it('this V8 knows the flag that is set', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known).toContain(`${INLINING_FLAG} `);
  expect(raiseInliningLimit).not.toThrow();
});
