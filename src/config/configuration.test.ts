import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection } from '@solana/web3.js';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { complaint, folder, load } from '../../test/app/load-configuration.ts';
import { configDocs, optionCount } from '../../test/project/write-config-docs.ts';
import { feedLimits } from '../upstream/feeds/limits.ts';
import { loadConfiguration, websocketUrlOf } from './configuration.ts';
import { showConfiguration } from './render.ts';
import { singleOptions } from './schema.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const example = join(root, 'config/solway.example.toml');

type Tables = Record<string, unknown>;

/** The options of the example file, the commented ones included, each with its table. */
function allOptions(): Tables {
  let table = '';
  const lines = read('config/solway.example.toml')
    .split('\n')
    .flatMap((line): string[] => {
      const header = /^(?:# )?(\[{1,2}[a-z_.]+\]{1,2})/.exec(line)?.[1];
      if (header !== undefined) table = header;
      const option = /^(?:# )?([a-z_]+ = .*)$/.exec(line)?.[1];
      if (option === undefined) return [];
      // Dotted names: a table may not be opened twice.
      const path = table.replace(/[[\]]/g, '');
      return [
        path === '' || table.startsWith('[[') ? '' : `${path}.${option}`,
        ...(path === '' ? [option] : []),
      ];
    });
  return parse(lines.filter((line) => line !== '').join('\n')) as Tables;
}

describe('generated files', () => {
  it.each(Object.entries(configDocs))('%s is up to date: run "npm run config:docs"', (path, render) => {
    expect(read(path)).toBe(render());
  });

  it('keep the example file short, with a normal deployment first', () => {
    const lines = read('config/solway.example.toml').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(400);
    const first = lines.slice(0, 41).join('\n');
    for (const name of ['host', 'cert_file', '[[upstream]]', 'database_url', '[plans.default]', '[metrics]'])
      expect(first).toContain(name);
    expect(optionCount()).toBeLessThanOrEqual(200);
  });
});

describe('the example file', () => {
  it('has the values of an absent file', () => {
    const written = loadConfiguration({ config: example, upstreams: [] }, {});
    expect({ ...written, file: null }).toEqual({ ...load(''), file: null });
  });

  it('has every option with its default', () => {
    const options = allOptions();
    for (const [name, row] of singleOptions) {
      if (row.rows !== undefined) continue;
      const [section = '', field] = name.split('.');
      const value = field === undefined ? options[section] : (options[section] as Tables)[field];
      expect(value, name).toEqual(row.default === null || row.example ? expect.anything() : row.default);
    }
  });

  it('shows a valid [[upstream]]', () => {
    const text = read('config/solway.example.toml');
    const block = /^# \[\[upstream\]\].*\n(?:# .*\n)+/m.exec(text)![0].replace(/^# /gm, '');
    expect(load(block, [], { NODE_TOKEN: 'x' }).upstreams).toEqual([
      {
        url: 'https://host/path',
        network: 'mainnet-beta',
        name: 'mainnet-beta-1',
        ws: 'wss://host/path',
        grpc: 'https://host:10000',
        headers: { 'x-token': 'x' },
        requestsPerSecond: 100,
        requestsBurst: 200,
        pipelining: 4,
      },
    ]);
  });
});

describe('names of earlier versions', () => {
  it('are errors that name the new option', () => {
    expect(complaint('[keys]\nwrong_keys_per_minute = 5\n[sending]\npending_max = 1')).toBe(
      'solway.toml: keys.wrong_keys_per_minute: was renamed: write keys.failed_auth_per_minute instead\n' +
        'solway.toml: sending.pending_max: was renamed: write transactions.pending_max instead',
    );
  });

  it('are errors that say that a value is fixed', () => {
    expect(complaint('[feeds]\nseen_max = 5\n[quotas]\nlate_minutes = 1\n[blocks]\n')).toBe(
      'solway.toml: feeds.seen_max: is no longer an option, its value is fixed: remove it\n' +
        'solway.toml: quotas.late_minutes: is no longer an option, its value is fixed: remove it\n' +
        'solway.toml: blocks: is no longer a section: remove it',
    );
  });

  it('are reported together with other errors', () => {
    expect(complaint('[server]\nraw_door = true\nport = -1')).toBe(
      'solway.toml: server.raw_door: was renamed: write server.fast_path instead\n' +
        'solway.toml: server.port: -1 is not a whole number from 0 to 65535',
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
  });

  it('are not shown', () => {
    const shown = showConfiguration(load('')) as Readonly<Record<string, object>>;
    expect(shown.feeds).not.toHaveProperty('seenMax');
    expect(shown.feeds).toHaveProperty('nodeConnectionsMax');
    expect(shown).not.toHaveProperty('quotas');
  });
});

describe('servers of the shred stage', () => {
  it('resolve their secrets, and do not show them', () => {
    const toml = `[shreds]\ndeshred = [{ url = "env:FAR", headers = { "x-token" = "env:TOKEN" } }]\n`;
    const configuration = load(toml, [], { FAR: 'https://far.example/hunter2', TOKEN: 'hunter2' });
    const url = 'https://far.example/hunter2';
    expect(configuration.shreds.deshred).toEqual([
      { name: 'deshred-1', url, headers: { 'x-token': 'hunter2' } },
    ]);
    const shown = JSON.stringify(showConfiguration(configuration));
    expect(shown).toContain('deshred-1');
    expect(shown).not.toContain('hunter2');
  });
});

describe('the gRPC listener', () => {
  it('listens on the host of the HTTP listener by default', () => {
    expect(load('[server]\nhost = "0.0.0.0"\n').grpc).toMatchObject({ host: '0.0.0.0', port: 50_051 });
    const both = load('[server]\nhost = "0.0.0.0"\n[grpc]\nhost = "127.0.0.1"\n', ['--grpc-port', '7']);
    expect(both.grpc).toMatchObject({ host: '127.0.0.1', port: 7 });
    expect(load('[grpc]\nport = 5\n', [], { SOLWAY_GRPC_PORT: '6' }).grpc.port).toBe(6);
  });
});

const NODE = '[[upstream]]\nurl = "https://a.example"\n';

describe('an invalid configuration', () => {
  it.each([
    [
      'port = 80',
      'solway.toml: port: there is no such option: the options here are data_dir, dev, server, grpc, networks, upstream, upstream_pool, sender, transactions, cache, sessions, websocket, feeds, geyser, replay, shreds, rest, off_chain, das, storage, uploads, ipfs, kubo, pinning, semi_wallets, localnet, store, keys, accounts, shared, notices, mail, request_log, metrics, telemetry, log, plans',
    ],
    ['datadir = "x"', 'solway.toml: datadir: there is no such option: did you mean "data_dir"?'],
    ['[sever]\nport = 1', 'solway.toml: sever: there is no such option: did you mean "server"?'],
    [
      '[server]\nbody-max-bytes = 1',
      'solway.toml: server.body-max-bytes: there is no such option: did you mean "body_max_bytes"?',
    ],
    ['[server]\nport = "8080"', 'solway.toml: server.port: "8080" is not a whole number from 0 to 65535'],
    ['[server]\nport = 65536', 'solway.toml: server.port: 65536 is not a whole number from 0 to 65535'],
    ['[server]\nport = 80.5', 'solway.toml: server.port: 80.5 is not a whole number from 0 to 65535'],
    ['[server]\nport = nan', 'solway.toml: server.port: NaN is not a whole number from 0 to 65535'],
    [
      '[server]\nport = 9223372036854775807',
      'solway.toml: invalid TOML at line 2, column 8: integer value cannot be represented losslessly',
    ],
    [
      '[server]\nhost = "http://x"',
      'solway.toml: server.host: "http://x" must be a host name or address such as "127.0.0.1" or "0.0.0.0"',
    ],
    ['server = 3', 'solway.toml: server: 3 is not a table'],
    [
      '[networks]\ndefault = "mainnet"',
      'solway.toml: networks.default: "mainnet" is not one of "mainnet-beta", "devnet", "testnet"',
    ],
    [
      '[upstream]\nurl = "https://a"',
      'solway.toml: upstream: is not a list of tables: write each node under its own [[upstream]]',
    ],
    ['[[upstream]]', 'solway.toml: upstream[0].url: is missing: write it as "https://host/path"'],
    [
      `${NODE}[[upstream]]\nurl = "htps://x"`,
      'solway.toml: upstream[1].url: "htps://x" is not an http(s) URL: write it as "https://host/path"',
    ],
    [
      `${NODE}ws = "https://x"`,
      'solway.toml: upstream[0].ws: "https://x" is not a ws(s) URL or "off": write it as "wss://host/path"',
    ],
    [
      `${NODE}name = "a b"`,
      'solway.toml: upstream[0].name: "a b" must be a name of 1 to 64 letters, digits, dots, dashes or underscores',
    ],
    [
      `${NODE}name = "x"\n${NODE}name = "x"`,
      'solway.toml: upstream[1].name: "x" is also the name of upstream[0]: give each its own',
    ],
    [
      `${NODE}headers = { "x-token" = 3 }`,
      'solway.toml: upstream[0].headers.x-token: the value is not one line of Latin-1 text, as headers require: encode other characters',
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
      '[[upstream]]\nurl = "https://a/key#x"',
      'solway.toml: upstream[0].url: "https://a/[redacted]" has a fragment, which is never sent: remove "#" and what follows it',
    ],
    [
      `${NODE}ws = "wss://a/key#"`,
      'solway.toml: upstream[0].ws: "wss://a/[redacted]" has a fragment, which is never sent: remove "#" and what follows it',
    ],
    [
      `${NODE}grpc = "https://%ff:x@a"`,
      'solway.toml: upstream[0].grpc: "https://a" has an invalid "%" escape in its user name or password: write "%" itself as "%25"',
    ],
    [
      `${NODE}headers = { "x token" = "y" }`,
      'solway.toml: upstream[0].headers: a name is not a valid HTTP header name',
    ],
    [
      `${NODE}headers = "x"`,
      'solway.toml: upstream[0].headers: is not a table: write it as headers = { "x-token" = "env:TOKEN" }',
    ],
    [
      `${NODE}ws = "env:NO_SUCH"`,
      'solway.toml: upstream[0].ws: "env:NO_SUCH" names an environment variable that is not set: set NO_SUCH, or write the value here',
    ],
    ['[grpc]\ntls_cert = "door.pem"', 'solway.toml: grpc.tls_cert: requires tls_key: set both or none'],
    ['[grpc]\nenabled = "no"', 'solway.toml: grpc.enabled: "no" is not true or false'],
    [
      '[shreds]\nudp_senders = ["nobody"]',
      'solway.toml: shreds.udp_senders[0]: "nobody" must be an address or a network such as "203.0.113.7" or "10.0.0.0/8"',
    ],
    ['dev = "yes"', 'solway.toml: dev: "yes" is not true or false'],
    [
      '[localnet]\nenabled = true',
      'solway.toml: localnet.enabled: is replaced by --dev: remove it, and use --dev for an embedded ledger',
    ],
    [
      `[networks]\ndefault = "mainnet-beta"\n${NODE}network = "devnet"`,
      'solway.toml: networks.default: is "mainnet-beta", for which there is no [[upstream]]: name the network of a node, as in networks.default = "devnet" or SOLWAY_NETWORK=devnet',
    ],
    [
      '[store]\ndatabase_url = "mysql://u:secret@h/d"',
      'solway.toml: store.database_url: "mysql://h/[redacted]" is not a PostgreSQL URL: write it as "postgres://user@host/database"',
    ],
    [
      '[plans.Gold]',
      'solway.toml: plans: a plan is named with 1 to 32 small letters, digits and dashes: [plans.my-plan]',
    ],
    [
      '[plans.gold]\nrpc_burst = 0',
      'solway.toml: plans.gold.rpc_burst: 0 is not a whole number from 1 to 10000000',
    ],
    [
      '[upstream_pool]\nattempt_timeout_ms = 40000',
      'solway.toml: upstream_pool.attempt_timeout_ms: is longer than timeout_ms: make it shorter',
    ],
    [
      '[kubo]\nurl = "http://127.0.0.1:5001"',
      'solway.toml: kubo.url: requires storage.gateway, because Solway does not serve the files of a Kubo node: set the gateway of the node, as in storage.gateway = "https://host/ipfs/"',
    ],
    ['[keys]\nkeys_max = 2', 'solway.toml: keys.keys_max: 2 is not a whole number from 3 to 10000000'],
    [
      '[uploads]\nupload_max_ms = 43200001',
      'solway.toml: uploads.upload_max_ms: 43200001 is not a whole number from 100 to 43200000',
    ],
    [
      '[store]\nconnections_max = 1',
      'solway.toml: store.connections_max: 1 is not a whole number from 2 to 1000',
    ],
    [
      '[log]\nlevel = "loud"',
      'solway.toml: log.level: "loud" is not one of "auto", "trace", "debug", "info", "warn", "error", "fatal", "silent"',
    ],
    ['a = = 3', 'solway.toml: invalid TOML at line 1, column 5: invalid value'],
  ])('is reported with option and remedy: %j', (toml, words) => {
    expect(complaint(toml)).toBe(words);
  });

  it('is reported with all its problems', () => {
    expect(complaint('[server]\nport = -1\nhots = "x"\n[log]\nlevel = 3').split('\n')).toEqual([
      'solway.toml: server.port: -1 is not a whole number from 0 to 65535',
      'solway.toml: server.hots: there is no such option: did you mean "host"?',
      'solway.toml: log.level: 3 is not one of "auto", "trace", "debug", "info", "warn", "error", "fatal", "silent"',
    ]);
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
    [['--zzzzzz'], 'unknown option --zzzzzz: see --help'],
    [['--port'], '--port needs a value'],
    [['--port', '--host', 'x'], '--port needs a value, and --host looks like an option'],
  ])('is reported for the command line %j', (args, words) => {
    expect(complaint('', args)).toBe(words);
  });
});

describe('a node of Kubo', () => {
  it('requires the gateway to its files', () => {
    const { kubo, storage } = load(
      '[kubo]\nurl = "http://127.0.0.1:5001"\n[storage]\ngateway = "https://files.example/ipfs/"',
    );
    expect([kubo.url, storage.gateway]).toEqual(['http://127.0.0.1:5001', 'https://files.example/ipfs/']);
  });
});

describe('problems that would prevent a start', () => {
  it.each(['10.0.0.0/99', '10.0.0/8', '::1/129', '1.2.3.4.5'])('are reported: sender %j', (entry) => {
    expect(complaint(`[shreds]\nudp_senders = ["10.0.0.0/8", "${entry}"]`)).toBe(
      `solway.toml: shreds.udp_senders[1]: "${entry}" must be an address or a network such as "203.0.113.7" or "10.0.0.0/8"`,
    );
  });

  it('are reported: missing certificates', () => {
    writeFileSync(join(folder, 'key.pem'), '');
    const toml = `[grpc]\ntls_cert = "${folder}/none.pem"\ntls_key = "${folder}/key.pem"`;
    expect(complaint(toml)).toBe('solway.toml: grpc.tls_cert: none.pem does not exist: correct the path');
  });

  it('are reported: a missing address', () => {
    expect(complaint('[shreds]\ndeshred = [{ name = "x" }]')).toBe(
      'solway.toml: shreds.deshred[0].url: is missing: write it as "https://host/path"',
    );
  });
});

describe('the time of an upload', () => {
  it('extends the time of its request', () => {
    const { rest, server } = load('[uploads]\nupload_max_ms = 14_400_000');
    expect(rest.uploadTimeoutMs).toBeGreaterThan(14_400_000);
    expect(server.ownTimeMaxMs).toBeGreaterThanOrEqual(rest.uploadTimeoutMs);
  });
});

const NAMED_NODE = '[[upstream]]\nurl = "http://node.example"\nname = "a"\nnetwork = "devnet"\n';

describe('[[sender]]', () => {
  it('has a default name and network', () => {
    const { senders } = load(
      `${NAMED_NODE}[[sender]]\nurl = "https://one.example"\n[[sender]]\nurl = "https://two.example"\nnetwork = "testnet"`,
    );
    expect(senders).toEqual([
      { name: 'sender-1', network: 'devnet', url: 'https://one.example', headers: {} },
      { name: 'sender-2', network: 'testnet', url: 'https://two.example', headers: {} },
    ]);
  });

  it('resolves its secrets, and does not show them', () => {
    const configuration = load(
      `${NAMED_NODE}[[sender]]\nurl = "env:SENDER"\nheaders = { "x-token" = "env:TOKEN" }`,
      [],
      { SENDER: 'https://one.example/KEY-IN-PATH', TOKEN: 'KEY-IN-HEADER' },
    );
    expect(configuration.senders[0]).toMatchObject({ headers: { 'x-token': 'KEY-IN-HEADER' } });
    const shown = JSON.stringify(showConfiguration(configuration));
    expect(shown).toContain('one.example');
    expect(shown).not.toContain('KEY-IN');
  });

  it('has a name that no node and no other endpoint has', () => {
    const url = 'url = "https://one.example"';
    expect(complaint(`${NAMED_NODE}[[sender]]\n${url}\nname = "a"`)).toContain(
      'sender[0].name: "a" is also the name of an [[upstream]]',
    );
    expect(
      complaint(`${NAMED_NODE}[[sender]]\n${url}\nname = "b"\n[[sender]]\n${url}\nname = "b"`),
    ).toContain('sender[1].name: "b" is also the name of another [[sender]]');
  });
});

describe('the WebSocket URL of a node', () => {
  it.each([
    ['https://host', 'wss://host'],
    ['https://host/path?api-key=x', 'wss://host/path?api-key=x'],
    ['http://127.0.0.1:8899', 'ws://127.0.0.1:8900'],
    ['http://127.0.0.1:8899/', 'ws://127.0.0.1:8900/'],
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

  it('keeps a user part and a colon in the path', () => {
    expect(websocketUrlOf('https://host/a:8899/b')).toBe('wss://host/a:8899/b');
    expect(websocketUrlOf('https://user:123@host:8899/x')).toBe('wss://user:123@host:8900/x');
    expect(websocketUrlOf('https://user:123@host/x')).toBe('wss://user:123@host/x');
  });

  it('is null when there is no next port', () => {
    expect(websocketUrlOf('http://host:65535/')).toBeNull();
  });
});
