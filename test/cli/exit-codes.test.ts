import { expect, it } from 'vitest';
import { temporaryFolder } from '../service/program.ts';
import { runHere, runSolway } from './run-solway.ts';

const folder = temporaryFolder('exit-codes');

it.each([
  [['up', '--port', 'abc'], '--port: "abc" is not a whole number'],
  [['up', '--prot', '1'], '--prot'],
  [['up', 'x'], 'unexpected argument "x": see solway up --help'],
  [['config', 'check', 'a.toml'], 'use solway config check --config a.toml'],
  [['config', 'dump'], 'use solway config check or solway config show'],
  [['upp'], 'unknown command "upp": did you mean "solway up"?'],
])('is 2 for the command line %j', async (args, text) => {
  expect(await runHere(folder, args)).toEqual({ code: 2, out: '', err: expect.stringContaining(text) });
});

it('is 2 if npm consumed the options', async () => {
  const environment = { npm_lifecycle_event: 'start', npm_config_data_dir: 'true' };
  const { code, err } = await runHere(folder, ['up', 'x'], environment);
  expect([code, err]).toEqual([2, expect.stringContaining('npm start -- --data-dir')]);
});

it('is 1 for the same error in the environment, also when run as a process', async () => {
  expect((await runSolway(folder, ['up'], { SOLWAY_PORT: 'abc' })).code).toBe(1);
});
