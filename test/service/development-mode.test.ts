import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decideDevelopmentMode } from '../../src/app/development-mode.ts';
import { createLogger } from '../../src/base/log.ts';
import { withoutNpmDev } from '../../src/cli/commands/up.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import { load } from '../app/load-configuration.ts';
import { runHere } from '../cli/run-solway.ts';
import { startProgram, temporaryFolder } from './program.ts';
import { writeConfiguration } from './start-service.ts';

/** Configurations without and with a node. */
const NO_FILE_NODES = '[grpc]\nenabled = false\n[networks]\ndefault = "devnet"\n';
const FILE_NODE = `${NO_FILE_NODES}[[upstream]]\nurl = "http://127.0.0.1:9/"\nws = "off"\n`;
const REMEDIES = ['[[upstream]]', 'solway upstream add'];

/** Starts the service. @returns its mode and warning, or its error. */
async function start(dataDir: string, toml: string, ...args: string[]): Promise<string> {
  const store = await openDatabase({ file: join(dataDir, 'solway.db') });
  const lines: string[] = [];
  const log = createLogger('warn', (line) => lines.push(line));
  try {
    const isDevelopment = await decideDevelopmentMode(load(toml, args), store, log);
    return [isDevelopment ? 'development' : 'production', ...lines].join(' ');
  } catch (error) {
    return (error as Error).message;
  } finally {
    await store.close();
  }
}

async function upstream(dataDir: string, ...args: string[]): Promise<void> {
  const where = ['--data-dir', dataDir, '--config', writeConfiguration(NO_FILE_NODES)];
  const { code, err } = await runHere(dataDir, ['upstream', ...args, ...where]);
  expect([code, err]).toEqual([0, '']);
}

async function folderWithNode(): Promise<string> {
  const dataDir = temporaryFolder('mode');
  await runHere(dataDir, ['db', 'migrate', '--data-dir', dataDir]);
  const node = ['--network', 'devnet', '--url', 'http://127.0.0.1:9/', '--ws', 'off'];
  await upstream(dataDir, 'add', 'added', ...node, '--force');
  return dataDir;
}

it('a start without nodes is rejected with every remedy, or serves the embedded ledger with --dev', async () => {
  const dataDir = temporaryFolder('mode');
  const words = await start(dataDir, NO_FILE_NODES);
  expect(words).toContain('no node is configured');
  for (const remedy of [...REMEDIES, '--dev']) expect(words).toContain(remedy);
  expect(await start(dataDir, NO_FILE_NODES, '--dev')).toMatch(/^development .*development mode: calls go/);
});

it('configured nodes are used despite --dev, and prevent development mode in later starts', async () => {
  const dataDir = temporaryFolder('mode');
  expect(await start(dataDir, FILE_NODE)).toBe('production');
  expect(await start(dataDir, FILE_NODE, '--dev')).toMatch(/^production .*development mode is ignored/);
  const words = await start(dataDir, NO_FILE_NODES, '--dev');
  for (const remedy of ['--dev is rejected', ...REMEDIES, '--data-dir']) expect(words).toContain(remedy);
  expect(await start(dataDir, NO_FILE_NODES)).not.toContain('--dev');
});

it('the --dev that npm start adds is dropped if nodes are configured', () => {
  const isDev = (toml: string, script: string) =>
    withoutNpmDev(load(toml, ['--dev']), { npm_lifecycle_event: script }).dev;
  expect([isDev(FILE_NODE, 'start'), isDev(NO_FILE_NODES, 'start'), isDev(FILE_NODE, 'solway')]).toEqual([
    false,
    true,
    true,
  ]);
});

it('nodes from the database suffice, unless none serves the default network', async () => {
  const dataDir = await folderWithNode();
  expect(await start(dataDir, NO_FILE_NODES)).toBe('production');
  const words = await start(dataDir, '[grpc]\nenabled = false\n');
  expect(words).toContain('networks.default is "mainnet-beta"');
  expect(words).toContain('SOLWAY_NETWORK=devnet');
});

it('nodes removed from the database still prevent development mode', async () => {
  const dataDir = await folderWithNode();
  await upstream(dataDir, 'remove', 'added', '--force');
  expect(await start(dataDir, NO_FILE_NODES, '--dev')).toContain('--dev is rejected');
});

it('development mode is shown in every output', async () => {
  const config = writeConfiguration(`${NO_FILE_NODES}[localnet]\nslot_ms = 50\n`);
  const up = ['up', '--dev', '--port', '0', '--data-dir', temporaryFolder('mode'), '--config', config];
  const program = startProgram([...up, '--log-level', 'warn']);
  const [, url] = await program.said(/^ {2}JSON-RPC: (\S+)\/v1\/rpc$[\s\S]*Stop with Ctrl\+C/m);
  expect(program.stdout()).toContain('DEVELOPMENT MODE: calls go to an embedded ledger');
  expect(program.stderr().match(/development mode/g)).toHaveLength(1);
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok', mode: 'development' });
  expect(await (await fetch(`${url}/ready`)).json()).toMatchObject({ mode: 'development' });
  const me = await (await fetch(`${url}/api/v1/me`)).json();
  expect(me).toMatchObject({ service: { mode: 'development' } });
  await program.stop();
});
