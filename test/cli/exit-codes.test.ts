import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../service/program.ts';
import { runSolway } from './run-solway.ts';

describe('the exit code', () => {
  it.each([
    [
      'a value out of range',
      ['up', '--port', '99999'],
      '--port: 99999 is not a whole number from 0 to 65535',
    ],
    ['a word for a number', ['up', '--port', 'abc'], '--port: "abc" is not a whole number'],
    ['what is no URL', ['up', '--upstream', 'foo'], '--upstream: the value is not an http(s) URL'],
    ['an unknown option', ['up', '--prot', '1'], '--prot'],
    ['a file without its option', ['config', 'check', 'a.toml'], 'use solway config check --config a.toml'],
    ['an unknown command', ['upp'], 'did you mean "solway up"?'],
  ])('is 2 for %s on the command line', async (_, args, words) => {
    const { code, err } = await runSolway(temporaryFolder('exit-codes'), args);
    expect(err).toContain(words);
    expect(code).toBe(2);
  });

  it('is 2 when npm kept the options, with the way to hand them on', async () => {
    const environment = { npm_lifecycle_event: 'start', npm_config_data_dir: 'true' };
    const { code, err } = await runSolway(temporaryFolder('exit-codes'), ['up', 'x'], environment);
    expect([code, err]).toEqual([2, expect.stringContaining('npm start -- --data-dir')]);
  });

  it('is 1 for the same mistake in the environment', async () => {
    const { code } = await runSolway(temporaryFolder('exit-codes'), ['up'], { SOLWAY_PORT: 'abc' });
    expect(code).toBe(1);
  });
});
