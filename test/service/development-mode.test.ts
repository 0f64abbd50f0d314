import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../cli/run-solway.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { startProgram, temporaryFolder } from './program.ts';
import { type RunningService, startService, writeConfiguration } from './start-service.ts';

/** When the embedded ledger answers, and when the configured nodes do. */
const NO_FILE_NODES = '[grpc]\nenabled = false\n[networks]\ndefault = "devnet"\n[localnet]\nslot_ms = 50\n';
const REMEDIES = ['[[upstream]]', 'solway upstream add', '--data-dir'];

let node: MockNode;
beforeAll(async () => {
  node = await startMock(healthy());
});
afterAll(() => node.close());

async function refused(dataDir: string, configuration: string, ...args: string[]): Promise<string> {
  const config = writeConfiguration(configuration);
  const up = startProgram(['up', '--port', '0', '--data-dir', dataDir, '--config', config, ...args]);
  expect(await up.ended).toBe(1);
  return up.stderr();
}

async function upstream(dataDir: string, ...args: string[]): Promise<void> {
  const config = writeConfiguration(NO_FILE_NODES);
  const where = ['--data-dir', dataDir, '--config', config];
  const { code, err } = await runHere(temporaryFolder('upstream'), ['upstream', ...args, ...where]);
  expect([code, err]).toEqual([0, '']);
}

async function folderWithDatabase(): Promise<string> {
  const dataDir = temporaryFolder('mode');
  await runHere(dataDir, ['db', 'migrate', '--data-dir', dataDir]);
  return dataDir;
}

const addDevnet = (dataDir: string) =>
  upstream(dataDir, 'add', 'added', '--network', 'devnet', '--url', node.url, '--ws', 'off', '--force');

async function health({ ready: { url } }: RunningService): Promise<unknown> {
  return (await fetch(`${url}/health`)).json();
}

const call = async ({ ready: { rpcUrl }, key }: RunningService, method: string): Promise<unknown> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
  return (await fetch(rpcUrl, { method: 'POST', headers, body })).json();
};

describe('a start without nodes', () => {
  it('is refused, and names every remedy', async () => {
    const words = await refused(await folderWithDatabase(), NO_FILE_NODES);
    expect(words).toContain('solway: no node is configured');
    for (const remedy of ['[[upstream]]', 'solway upstream add', '--dev']) expect(words).toContain(remedy);
  });

  it('serves the embedded ledger in development mode, and reports that everywhere', async () => {
    const config = writeConfiguration(NO_FILE_NODES);
    const dataDir = temporaryFolder('mode');
    const up = ['up', '--dev', '--port', '0', '--data-dir', dataDir, '--config', config];
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
});

describe('nodes in the database only', () => {
  it('are used from the start, and the embedded ledger is not, with or without --dev', async () => {
    const dataDir = await folderWithDatabase();
    await addDevnet(dataDir);
    for (const args of [[], ['--dev']]) {
      const fixed = ['up', '--json', '--port', '0', '--data-dir', dataDir];
      const config = writeConfiguration(NO_FILE_NODES);
      const program = startProgram([...fixed, '--config', config, '--log-level', 'warn', ...args]);
      const [line] = await program.said(/^\{"event":"ready".*\}$/m);
      const ready = JSON.parse(line) as RunningService['ready'];
      expect(ready.mode).toBe('production');
      expect(await (await fetch(`${ready.url}/health`)).json()).toMatchObject({ mode: 'production' });
      expect(await (await fetch(`${ready.url}/ready`)).json()).toMatchObject({ upstreams: { total: 1 } });
      const words = program.stderr().match(/development mode is ignored/g) ?? [];
      expect(words).toHaveLength(args.length === 0 ? 0 : 1);
      await program.stop();
    }
  });

  it('refuse a default network that none of them serves', async () => {
    const dataDir = await folderWithDatabase();
    await addDevnet(dataDir);
    const words = await refused(dataDir, '[grpc]\nenabled = false\n');
    expect(words).toContain('networks.default is "mainnet-beta"');
    expect(words).toContain('SOLWAY_NETWORK=devnet');
  });

  it('prevent development mode after they are removed', async () => {
    const dataDir = await folderWithDatabase();
    await addDevnet(dataDir);
    await upstream(dataDir, 'remove', 'added', '--force');
    const words = await refused(dataDir, NO_FILE_NODES, '--dev');
    expect(words).toContain('--dev is rejected');
    for (const remedy of REMEDIES) expect(words).toContain(remedy);
    expect(await refused(dataDir, NO_FILE_NODES)).not.toContain('--dev');
  });
});

describe('nodes of the file', () => {
  it('are used although --dev is given, and prevent development mode afterwards', async () => {
    const dataDir = temporaryFolder('mode');
    const configuration = `${NO_FILE_NODES}[[upstream]]\nurl = "${node.url}"\nws = "off"\n`;
    const service = await startService({ dataDir, configuration, arguments: ['--dev'] });
    expect(await health(service)).toEqual({ status: 'ok', mode: 'production' });
    expect(await call(service, 'getVersion')).toMatchObject({ result: expect.anything() });
    expect(node.received.some(({ method }) => method === 'getVersion')).toBe(true);
    expect(await service.stop()).toBe(0);
    expect(await refused(dataDir, NO_FILE_NODES, '--dev')).toContain('--dev is rejected');
  });
});
