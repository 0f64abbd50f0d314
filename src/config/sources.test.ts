import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complaint, folder, load } from '../../test/app/load-configuration.ts';
import { showConfiguration } from './render.ts';

describe('the sources of the configuration', () => {
  it('have the precedence command line, environment, file', () => {
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

  it('assign --ws, --grpc and --network to the --upstream before them, which replaces the nodes of the file', () => {
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
});

describe('secrets', () => {
  const SECRET = 'hunter2hunter2';

  it('are read from the environment or from a file', () => {
    writeFileSync(join(folder, 'token'), `${SECRET}\n`);
    const toml =
      '[[upstream]]\nurl = "env:NODE"\nheaders = { Authorization = "file:token" }\n[store]\ndatabase_url = "env:DB"';
    const environment = { NODE: `https://a/${SECRET}`, DB: `postgres://u:${SECRET}@h/d` };
    const { upstreams, store } = load(toml, [], environment);
    expect(upstreams[0]).toMatchObject({ url: `https://a/${SECRET}`, headers: { Authorization: SECRET } });
    expect(store.databaseUrl).toBe(environment.DB);
  });

  it.each([
    `https://u:${SECRET}@h.example`,
    `https://h.example/${SECRET}/`,
    `https://h.example/?api-key=${SECRET}`,
  ])('are not shown in the address of a node: %s', (url) => {
    const database = `postgres://u:${SECRET}@h/d?password=${SECRET}`;
    const node = `[[upstream]]\nurl = "${url}"\nheaders = { x = "${SECRET}" }\n`;
    const toml = `${node}[store]\ndatabase_url = "${database}"`;
    const shown = JSON.stringify(showConfiguration(load(toml)));
    expect(shown).toContain('h.example');
    expect(shown).not.toContain(SECRET);
  });

  it.each([
    `[[upstream]]\nurl = "htps://u:${SECRET}@h/${SECRET}?x=${SECRET}"`,
    `[[upstream]]\nurl = "https://u:${SECRET}#@h.example"`,
    `[[upstream]]\nurl = ["${SECRET}"]`,
    `[[upstream]]\nurl = "https://a"\nname = "https://a/${SECRET}"`,
    `[[upstream]]\nurl = "https://a/${SECRET}" nonsense`,
    `[store]\ndatabase_url = "postgre://u:${SECRET}@h/d"`,
  ])('are not shown in the error of %j', (toml) => {
    expect(complaint(toml)).toMatch(/^solway\.toml: /);
    expect(complaint(toml)).not.toContain(SECRET);
  });
});

describe('references to secrets', () => {
  const environment = {
    REDIS: 'rediss://:geheim@redis.example:6379',
    SMTP: 'smtp://u:geheim@mail.example:587',
    TOKEN: 'geheim',
    NODE: 'https://node.example/geheim',
  };

  it('are resolved for every secret option, and not shown', () => {
    const configuration = load(
      `[shared]
    redis_url = "env:REDIS"
    [cache]
    redis_url = "env:REDIS"
    [mail]
    smtp_url = "env:SMTP"
    from = "Solway <solway@example.com>"
    [metrics]
    token = "env:TOKEN"
    [pinning]
    url = "https://pins.example"
    token = "env:TOKEN"
    [telemetry]
    otlp_url = "https://otlp.example"
    headers = { "authorization" = "env:TOKEN" }
    [accounts]
    public_url = "https://solway.example"
    [[accounts.oidc]]
    id = "example"
    name = "Example"
    discovery_url = "https://id.example/.well-known/openid-configuration"
    client_id = "solway"
    client_secret = "env:TOKEN"
    [shreds]
    deshred = [{ url = "env:NODE", headers = { "x-token" = "env:TOKEN" } }]
    [[upstream]]
    url = "https://node.example"
    [[sender]]
    url = "env:NODE"
    headers = { "x-token" = "env:TOKEN" }`,
      [],
      environment,
    );
    const { accounts, cache, mail, metrics, pinning, shared, telemetry, shreds, senders } = configuration;
    const node = { url: environment.NODE, headers: { 'x-token': 'geheim' } };
    expect([shreds.deshred, senders]).toMatchObject([[node], [node]]);
    const shown = JSON.stringify(showConfiguration(configuration));
    expect(shown).toContain('node.example');
    expect(shown).not.toContain('geheim');
    expect([shared.redisUrl, cache.redisUrl, mail.smtpUrl]).toEqual([
      environment.REDIS,
      environment.REDIS,
      environment.SMTP,
    ]);
    expect([metrics.token, pinning.token, telemetry.headers.authorization]).toEqual(Array(3).fill('geheim'));
    expect(accounts.oidc[0]?.clientSecret).toBe('geheim');
  });
});
