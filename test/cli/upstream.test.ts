import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../service/program.ts';
import { type CommandResult, runHere } from './run-solway.ts';

const SECRET = 'a-provider-key';
const folder = temporaryFolder('upstream');
const config = join(folder, 'solway.toml');
const where = ['--data-dir', join(folder, 'data'), '--config', config];
const environment = { NODE_URL: `http://127.0.0.1:1/${SECRET}`, NODE_TOKEN: SECRET };

async function run(...args: string[]): Promise<CommandResult> {
  const done = await runHere(folder, args, environment);
  expect(done.out + done.err).not.toContain(SECRET);
  return done;
}

const upstream = (...args: string[]) => run('upstream', ...args, ...where);
const routes = ['--methods', 'getBlock,*', '--archive', 'no'];
const node = ['--network', 'devnet', '--url', 'env:NODE_URL', '--header', 'x-token=env:NODE_TOKEN'];

beforeAll(async () => {
  writeFileSync(config, '[[upstream]]\nname = "first"\nurl = "http://127.0.0.1:1"\nws = "off"\n');
  expect((await upstream('list')).err).toContain('does not exist');
  await run('keys', 'create', '--name', 'x', ...where);
});

it('adds a node with --force, lists and removes it, without showing its URL', async () => {
  const refused = await upstream('add', 'second', ...node);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('Connection failed.') });
  expect(refused.err).toMatch(/To add it anyway, add --force\.\n$/);
  expect(await upstream('add', 'second', ...node, '--priority', '2', ...routes, '--force')).toMatchObject({
    code: 0,
    out: 'Added second (devnet). Every gateway applies this within two seconds.\nThe node was not checked.\n',
  });
  const { added } = JSON.parse((await upstream('list', '--json')).out) as { added: object[] };
  const options = expect.objectContaining({
    priority: 2,
    weight: 1,
    methods: ['getBlock', '*'],
    archive: false,
  });
  expect(added).toEqual([expect.objectContaining({ name: 'second', hasWs: true, hasGrpc: false, options })]);
  expect((await upstream('list')).out).toMatch(/^second +devnet +- +added +ws .* no gateway$/m);
  expect((await run('doctor', ...where)).out).toMatch(/upstream second \(devnet\).*Connection failed/);
  expect((await upstream('remove', 'second')).out).toMatch(/^Removed second\. /);
  expect(await upstream('remove', 'first')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is defined in the configuration'),
  });
});

it.each([
  [['upstream', 'drain'], 'missing argument: solway upstream drain NODE'],
  [['upstream', 'add', 'x', '--url', 'http://h'], '--network is required: see solway upstream --help'],
  [['upstream', 'change', 'x'], 'nothing to change'],
  [
    ['upstream', 'change', 'x', '--requests-burst', 'many'],
    '--requests-burst must be a whole number such as 10, or none',
  ],
  [['upstream', 'change', 'x', '--weight', 'many'], '--weight must be a whole number such as 10\n'],
  [['upstream', 'add', 'x', ...node.slice(0, 4), '--header', SECRET], '--header must be NAME=VALUE'],
  [['reload', '--server', 'http://127.0.0.1:1'], `under Settings, "Operator tokens"`],
])('reports a remedy for %j', async (args, words) => {
  expect(await run(...args, '--config', config)).toMatchObject({
    code: 2,
    err: expect.stringContaining(words),
  });
});
