import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complaint, file, load } from '../../test/app/load-configuration.ts';
import { defaultPlanLimits } from '../gateway/auth/key-record.ts';

describe('the sources of the configuration', () => {
  it('win in the order command line, environment, file', () => {
    const toml = 'data_dir = "f"\n[server]\nport = 1\nhost = "f"\n[log]\nlevel = "warn"';
    const environment = { SOLWAY_PORT: '2', SOLWAY_HOST: 'e', SOLWAY_NETWORK: 'devnet' };
    const { server, log, networks, dataDir } = load(toml, ['--port', '3'], environment);
    expect([server.port, server.host, log.level, networks.default]).toEqual([3, 'e', 'warn', 'devnet']);
    expect(dataDir).toBe(join(process.cwd(), 'f'));
  });

  it('take the network that all nodes name as the default one, unless one is set', () => {
    const node = (network: string) => ['--upstream', 'https://a', '--network', network];
    const networkOf = (...given: Parameters<typeof load>) => load(...given).networks.default;
    expect(networkOf('', [...node('devnet'), ...node('devnet')])).toBe('devnet');
    expect(networkOf('[[upstream]]\nurl = "https://a"\nnetwork = "testnet"')).toBe('testnet');
    expect(networkOf('', ['--upstream', 'https://b', ...node('devnet')])).toBe('mainnet-beta');
    expect(networkOf('', [...node('mainnet-beta'), ...node('devnet')])).toBe('mainnet-beta');
    const all = [...node('devnet'), ...node('testnet')];
    expect(networkOf('', all, { SOLWAY_NETWORK: 'testnet' })).toBe('testnet');
  });

  it('treat an empty variable as one that is not set', () => {
    expect(load('', [], { SOLWAY_PORT: '', DATABASE_URL: '' }).server.port).toBe(8080);
  });

  it('are told with the file as it was named', () => {
    writeFileSync(file, 'hots = 1');
    const named = relative(process.cwd(), file);
    expect(() => load(null, ['--config', named])).toThrow(`${named}: hots: there is no such field`);
    expect(() => load(null, [], { SOLWAY_CONFIG: file })).toThrow(`${file}: hots: there is no such field`);
  });

  it('find the file by SOLWAY_CONFIG', () => {
    writeFileSync(file, '[server]\nport = 7');
    expect(load(null, [], { SOLWAY_CONFIG: file })).toMatchObject({ file, server: { port: 7 } });
  });

  it('gather --ws, --grpc and --network with the --upstream before them, in place of the nodes of the file', () => {
    const args = [
      '--upstream',
      'https://a',
      '--grpc=https://g',
      '--upstream=https://b',
      '--ws',
      'wss://b',
      '--network',
      'devnet',
    ];
    expect(load('[[upstream]]\nurl = "https://a.example"\n', args).upstreams).toMatchObject([
      { name: 'mainnet-beta-1', url: 'https://a', ws: 'wss://a', grpc: 'https://g' },
      { name: 'devnet-1', url: 'https://b', ws: 'wss://b', grpc: null },
    ]);
  });

  it('derive the WebSocket address of a node, unless it is given or off', () => {
    const node = (ws: string) => `[[upstream]]\nurl = "http://h:8899/x"\n${ws}`;
    const wsOf = (toml: string) => load(toml).upstreams[0]?.ws;
    expect(wsOf(node(''))).toBe('ws://h:8900/x');
    expect(wsOf(node('ws = "wss://other/y"'))).toBe('wss://other/y');
    expect(wsOf(node('ws = "off"'))).toBeNull();
    expect(complaint(node('ws = "of"'))).toBe(
      'solway.toml: upstream[0].ws: the value is not a ws(s) URL or "off": write it as "wss://host/path"',
    );
  });

  it('always give the default plan and one to rehearse with, and the others beside them', () => {
    const { plans } = load('[plans.gold]\nrpc_per_second = 5\nprices = { getBlock = 3 }');
    expect(plans.filter(({ id }) => id !== 'rehearsal')).toEqual([
      { id: 'default', name: 'default', limits: defaultPlanLimits },
      {
        id: 'gold',
        name: 'gold',
        limits: { ...defaultPlanLimits, rpcPerSecond: 5, prices: { getBlock: 3 } },
      },
    ]);
    const limits = { rpcPerSecond: 1, rpcBurst: 2, wsConnectionsMax: 2, monthlyCredits: 100 };
    expect(plans.find(({ id }) => id === 'rehearsal')?.limits).toMatchObject(limits);
  });

  it('let single limits of the rehearsal be set, and leave the others', () => {
    const { plans } = load('[plans.rehearsal]\nmonthly_credits = 7');
    expect(plans.find(({ id }) => id === 'rehearsal')?.limits).toMatchObject({
      rpcPerSecond: 1,
      monthlyCredits: 7,
    });
    expect(complaint('[plans]\nrehearsal = 5')).toContain('plans.rehearsal');
  });
});
