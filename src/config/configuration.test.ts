import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { complaint, folder, load } from '../../test/app/load-configuration.ts';
import { configDocs, optionCount } from '../../test/project/write-config-docs.ts';
import { feedLimits } from '../upstream/feeds/limits.ts';
import { loadConfiguration, websocketUrlOf } from './configuration.ts';
import { renamed } from './old-names.ts';
import { showConfiguration } from './render.ts';
import { singleOptions } from './schema.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const example = join(root, 'config/solway.example.toml');

describe('generated files', () => {
  it.each(Object.entries(configDocs))('%s is up to date: run "npm run config:docs"', (path, render) => {
    expect(read(path)).toBe(render());
  });

  it('keep the example file short, with a normal deployment first', () => {
    const lines = read('config/solway.example.toml').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(400);
    const first = lines.slice(0, 50).join('\n');
    for (const name of ['host', 'cert_file', '[[upstream]]', 'database_url', '[plans.default]', '[metrics]'])
      expect(first).toContain(name);
    expect(optionCount()).toBeLessThanOrEqual(220);
  });
});

it('custom networks follow the standard ones; that of all nodes is the default', () => {
  const custom = '[networks.custom]\nfogo-main = "11111111111111111111111111111111"\nconstructor = ""\n';
  const node = '[[upstream]]\nurl = "https://a"\nnetwork = "constructor"\n';
  const { networks, upstreams } = load(custom + node);
  expect(networks.names).toEqual(['mainnet-beta', 'devnet', 'testnet', 'fogo-main', 'constructor']);
  expect([networks.default, upstreams[0]?.name]).toEqual(['constructor', 'constructor-1']);
});

describe('secrets', () => {
  it.each([
    [
      'senders',
      '[[upstream]]\nurl = "https://a.example"\n[[sender]]\nurl = "env:FAR"\nheaders = { "x-token" = "env:TOKEN" }',
    ],
    ['shreds', '[shreds]\ndeshred = [{ url = "env:FAR", headers = { "x-token" = "env:TOKEN" } }]'],
  ] as const)('of %s are resolved, and not shown', (section, toml) => {
    const configuration = load(toml, [], { FAR: 'https://far.example/hunter2', TOKEN: 'hunter2' });
    const text = JSON.stringify(configuration[section]);
    expect(text).toContain('"url":"https://far.example/hunter2"');
    expect(text).toContain('"x-token":"hunter2"');
    const shown = JSON.stringify(showConfiguration(configuration));
    expect(shown).toContain('far.example');
    expect(shown).not.toContain('hunter2');
  });
});

it('the example file has the values of an absent file', () => {
  const written = loadConfiguration({ config: example, upstreams: [] }, {});
  expect({ ...written, file: null }).toEqual({ ...load(''), file: null });
});

it('the keys of a token issuer are read encrypted, or from this machine', () => {
  const jwt = (url: string) => `[keys.jwt]\nissuer = "i"\naudience = "a"\njwks_url = "${url}"`;
  for (const url of ['https://id.example/', 'http://127.0.0.1:80/', 'http://localhost/', 'http://[::1]/'])
    expect(load(jwt(url)).keys.jwt?.jwksUrl).toBe(url);
  expect(complaint(jwt('http://127.0.0.1.example/'))).toContain(
    'keys.jwt.jwks_url: is not encrypted, so its responses can be forged: write it as "https://host/path"',
  );
});

it('a provider whose tokens are accepted is reached encrypted, or on this machine', () => {
  const client = 'id = "a"\nname = "A"\nclient_id = "b"\nclient_secret = "c"';
  const oidc = (url: string, more = '') => `[[accounts.oidc]]\n${client}\ndiscovery_url = "${url}"\n${more}`;
  const audience = 'token_audience = "api"';
  expect(load(oidc('http://id.example/')).accounts.oidc[0]?.tokenAudience).toBeNull();
  expect(load(oidc('https://id.example/', audience)).accounts.oidc[0]?.tokenAudience).toBe('api');
  expect(complaint(oidc('http://id.example/', audience))).toContain(
    'accounts.oidc[0].discovery_url: is not encrypted',
  );
});

describe('names of earlier versions', () => {
  it.each(Object.entries(renamed))('%s is an error that names %s', (old, option) => {
    const [section, name] = old.split('.');
    const expected = `solway.toml: ${old}: was renamed: write ${option} instead`;
    expect(complaint(`[${section}]\n${name} = 5`)).toBe(expected);
    expect(singleOptions.has(option)).toBe(true);
  });

  it.each(['shreds.held_bytes_max', 'sending.accepted_max', 'feeds.seen_max'])('are rejected: %s', (name) => {
    const [section, option] = name.split('.');
    expect(complaint(`[${section}]\n${option} = 5`)).toContain(
      `${name}: is not an option, its value is fixed`,
    );
  });
});

describe('fixed limits', () => {
  const toml = '[internal.feeds]\nseen_max = 5\n';

  it('are overridden only when the variable allows it', () => {
    const environment = { SOLWAY_INTERNAL_LIMITS: 'allow' };
    expect(load(toml, [], environment).feeds.seenMax).toBe(5);
    expect(load('').feeds.seenMax).toBe(feedLimits.seenMax);
    expect(complaint(toml)).toContain('solway.toml: internal: there is no such option');
    expect(complaint('[internal.feeds]\nseen = 5\n', [], environment)).toContain(
      'internal.feeds.seen: there is no such fixed limit',
    );
    expect(complaint('[internal.cache]\nenabled = false\n', [], environment)).toContain(
      'internal.cache.enabled: there is no such fixed limit',
    );
  });
});

const NODE = '[[upstream]]\nurl = "https://a.example"\n';

describe('an invalid configuration', () => {
  it.each([
    ['datadir = "x"', 'solway.toml: datadir: there is no such option: did you mean "data_dir"?'],
    ['port = 1', 'solway.toml: port: there is no such option: did you mean "server.port" or "grpc.port"?'],
    ['[server]\nport = "8080"', 'solway.toml: server.port: "8080" is not a whole number from 0 to 65535'],
    ['[server]\nport = 65536', 'solway.toml: server.port: 65536 is not a whole number from 0 to 65535'],
    ['server = 3', 'solway.toml: server: 3 is not a table'],
    ['[[upstream]]', 'solway.toml: upstream[0].url: is missing: write it as "https://host/path"'],
    [
      `${NODE}ws = "https://x"`,
      'solway.toml: upstream[0].ws: "https://x" is not a ws(s) URL or "off": write it as "wss://host/path"',
    ],
    [
      `${NODE}name = "x"\n${NODE}name = "x"`,
      'solway.toml: upstream[1].name: "x" is also the name of upstream[0]: give each a unique name',
    ],
    [
      `${NODE}weight = 3\n[upstream_pool]\nload_balancing = "sticky"`,
      'solway.toml: upstream[0].weight: has no effect with upstream_pool.load_balancing = "sticky", which uses one node: remove one of them',
    ],
    [
      `${NODE}region = "fra"`,
      'solway.toml: upstream[0].region: has no effect without server.region: set that to the region of this gateway',
    ],
    [
      `${NODE}methods = ["getBlock"]`,
      'solway.toml: upstream[0].methods: no node of mainnet-beta serves the methods that are not listed: add "*" to one, or a node without methods',
    ],
    [
      `${NODE}methods = ["get*Block", "*"]`,
      'solway.toml: upstream[0].methods[0]: "get*Block" must be a method such as "getBlock", a prefix such as "getToken*", or "*"; subscription methods cannot be routed',
    ],
    [
      '[quorum]\nmethods = ["getBlock", "send*"]',
      'solway.toml: quorum.methods[1]: "send*" matches no read: only known reads may go to several nodes',
    ],
    [
      '[quorum]\nagreement_threshold = 4',
      'solway.toml: quorum.agreement_threshold: must not exceed quorum.nodes',
    ],
    [
      `${NODE}headers = { "x-token" = "\u0142" }`,
      'solway.toml: upstream[0].headers.x-token: the value is not one line of Latin-1 text, as headers require: encode other characters',
    ],
    [
      '[[upstream]]\nurl = "https://u:50%off@a/key"',
      'solway.toml: upstream[0].url: "https://a/[redacted]" has an invalid "%" escape in its user name or password: write "%" itself as "%25"',
    ],
    [
      `${NODE}headers = { "x token" = "y" }`,
      'solway.toml: upstream[0].headers: a name is not a valid HTTP header name',
    ],
    ['[grpc]\ntls_cert = "door.pem"', 'solway.toml: grpc.tls_cert: requires tls_key: set both or neither'],
    ['[grpc]\nenabled = "no"', 'solway.toml: grpc.enabled: "no" is not true or false'],
    [
      `[networks]\ndefault = "mainnet-beta"\n${NODE}network = "devnet"`,
      'solway.toml: networks.default: is "mainnet-beta", for which there is no [[upstream]]: set it to the network of a node, for example networks.default = "devnet" or SOLWAY_NETWORK=devnet',
    ],
    [
      '[networks]\ndefault = "stagin"\ncustom = { staging = "" }',
      'solway.toml: networks.default: "stagin" is not one of mainnet-beta, devnet, testnet, staging: correct it, or add networks.custom = { stagin = "" }',
    ],
    [
      `${NODE}network = "staging"\n[[das]]\nurl = "https://a"\nnetwork = "Staging"`,
      'solway.toml: das[0].network: "Staging" is not a name of 1 to 32 lowercase letters, digits and dashes',
    ],
    [
      `${NODE}network = "staging"`,
      'solway.toml: upstream[0].network: "staging" is not one of mainnet-beta, devnet, testnet: correct it, or add networks.custom = { staging = "" }',
    ],
    [
      '[networks.custom]\n"-a" = ""',
      'solway.toml: networks.custom: a name must have 1 to 32 lowercase letters, digits and dashes, and not start with a dash',
    ],
    [
      '[networks.custom]\ndevnet = ""',
      'solway.toml: networks.custom: mainnet-beta, devnet, testnet always exist: remove them here',
    ],
    [
      '[networks.custom]\nstaging = "0OIl"',
      'solway.toml: networks.custom.staging: "0OIl" must be a genesis hash in base58, or "" for any',
    ],
    [
      `[networks.custom]\n${Array.from({ length: 14 }, (_, index) => `n${index} = ""\n`).join('')}`,
      'solway.toml: networks.custom: has more than 13 networks',
    ],
    [
      '[store]\ndatabase_url = "mysql://u:secret@h/d"',
      'solway.toml: store.database_url: "mysql://h/[redacted]" is not a PostgreSQL URL: write it as "postgres://user@host/database"',
    ],
    [
      '[upstream_pool]\nattempt_timeout_ms = 40000',
      'solway.toml: upstream_pool.attempt_timeout_ms: must not exceed timeout_ms',
    ],
    [
      '[kubo]\nurl = "http://127.0.0.1:5001"',
      'solway.toml: kubo.url: requires storage.gateway, because Solway does not serve the files of a Kubo node: set the gateway of the node, as in storage.gateway = "https://host/ipfs/"',
    ],
    [
      '[uploads]\nupload_max_ms = 43200001',
      'solway.toml: uploads.upload_max_ms: 43200001 is not a whole number from 100 to 43200000',
    ],
    ['a = = 3', 'solway.toml: invalid TOML at line 1, column 5: invalid value'],
  ])('is reported with option and remedy: %j', (toml, words) => {
    expect(complaint(toml)).toBe(words);
  });

  it('names the source of the value', () => {
    expect(complaint('', ['--port', '8x'])).toBe('--port: "8x" is not a whole number from 0 to 65535');
    expect(complaint('', [], { SOLWAY_PORT: '70000' })).toBe(
      'SOLWAY_PORT: 70000 is not a whole number from 0 to 65535',
    );
    expect(complaint('', ['--upstream', 'https://a', '--upstream', 'b', '--ws', 'c'])).toBe(
      '--upstream (2): the value is not an http(s) URL: write it as "https://host/path"\n' +
        '--ws (2): the value is not a ws(s) URL or "off": write it as "wss://host/path"',
    );
    expect(complaint(null, ['--config', join(folder, 'none.toml')])).toBe(
      'none.toml: the file does not exist',
    );
  });

  it.each([
    [['--ws', 'wss://a'], '--ws belongs to the --upstream before it: write --upstream URL first'],
    [
      ['--upstream', 'https://a', '--ws', 'wss://a', '--ws', 'wss://b'],
      '--ws is given twice for one --upstream: repeat --upstream for each node',
    ],
    [['--prot', '1'], 'unknown option --prot: did you mean --port?'],
    [['--port', '--host', 'x'], '--port needs a value, and --host looks like an option'],
  ])('is reported for the command line %j', (args, words) => {
    expect(complaint('', args)).toBe(words);
  });
});

it('problems that would prevent a start are reported: missing certificates', () => {
  writeFileSync(join(folder, 'key.pem'), '');
  const toml = `[grpc]\ntls_cert = "${folder}/none.pem"\ntls_key = "${folder}/key.pem"`;
  expect(complaint(toml)).toBe('solway.toml: grpc.tls_cert: none.pem does not exist: correct the path');
});

describe('the WebSocket URL of a node', () => {
  it.each([
    ['https://host/path?api-key=x', 'wss://host/path?api-key=x'],
    ['http://127.0.0.1:8899', 'ws://127.0.0.1:8900'],
    ['https://host:443/path', 'wss://host:444/path'],
    ['http://[::1]:8899/x', 'ws://[::1]:8900/x'],
  ])('is derived from %s as @solana/web3.js does', (url, expected) => {
    expect(websocketUrlOf(url)).toBe(expected);
    // A private member of @solana/web3.js.
    const { _rpcWebSocket: client } = new Connection(url) as unknown as {
      _rpcWebSocket: { address: string };
    };
    if (!url.includes('[')) expect(client.address).toBe(expected);
  });

  it('is null when there is no next port', () => {
    expect(websocketUrlOf('http://host:65535/')).toBeNull();
  });
});
