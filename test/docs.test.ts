import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command as config } from '../src/cli/commands/config.ts';
import { command as doctor } from '../src/cli/commands/doctor.ts';
import { command as keys } from '../src/cli/commands/keys.ts';
import { command as localnet } from '../src/cli/commands/localnet.ts';
import { command as reload } from '../src/cli/commands/reload.ts';
import { command as up } from '../src/cli/commands/up.ts';
import { command as upstream } from '../src/cli/commands/upstream.ts';
import { loadConfiguration } from '../src/config/configuration.ts';
import { environmentFields } from '../src/config/sources.ts';
import { snsLimits } from '../src/decoding/sns/domains.ts';
import { holdingsLimits } from '../src/decoding/token/token-holdings.ts';
import { defaultPlanLimits } from '../src/gateway/auth/key-record.ts';
import { messageRateOptions } from '../src/gateway/limits/message-rate-limiter.ts';
import { confirmationLimits } from '../src/gateway/rest/confirmations.ts';
import { restLimits } from '../src/gateway/rest/rest-gateway.ts';
import { subscriptionLimits } from '../src/gateway/websocket/subscription-limits.ts';
import { topicHubOptions } from '../src/gateway/websocket/topic-hub.ts';
import { rpcHandlers } from '../src/localnet/rpc-handlers.ts';
import { type FailureCode, failures } from '../src/protocol/errors.ts';
import type { FailureRow } from '../src/protocol/failure-row.ts';
import { type GrpcCode, numberOf } from '../src/protocol/grpc/status.ts';
import { methods } from '../src/protocol/methods.ts';
import { FILTER_ADDRESSES_MAX } from '../src/protocol/pubsub/transaction-filter.ts';
import { envelopeLimits } from '../src/protocol/request-envelope.ts';
import { subscriptions } from '../src/protocol/subscriptions.ts';
import { failuresOf } from '../src/rest-api/failures.ts';
import { nftListLimits } from '../src/rest-api/nft/nft-list-limits.ts';
import { endpoints } from '../src/rest-api/registry.ts';
import { grpcServerOptions } from '../src/servers/grpc/options.ts';
import { httpOptions } from '../src/servers/http/options.ts';
import { uploadLimits } from '../src/servers/rest/multipart.ts';
import { restServerOptions } from '../src/servers/rest/server.ts';
import { rpcServerOptions } from '../src/servers/rpc/options.ts';
import { webSocketOptions } from '../src/servers/websocket/server.ts';
import { blockSchedulerDefaults } from '../src/streams/geyser/channel/block-scheduler.ts';
import { unaryRpcs } from '../src/streams/geyser/geyser-handler.ts';
import { geyserHubOptions } from '../src/streams/geyser/geyser-hub-options.ts';
import { defaultUpstreamLimits } from '../src/upstream/limits.ts';
import { eventually } from './service/eventually.ts';
import { temporaryFolder } from './service/program.ts';
import { createRpcClient } from './service/rpc-client.ts';
import { type RunningService, startService } from './service/start-service.ts';

/** The pages say what the program does; what can be compared is compared here. */
const root = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '');

/** Code blocks of a language. */
const blocks = (file: string, language: string): string[] =>
  [...read(file).matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].flatMap(([, name, code]) =>
    name === language && code !== undefined ? [code] : [],
  );

/** Rows of the first table below a heading, as cells; the head and the line under it are left out. */
function table(file: string, heading: string): string[][] {
  const after = read(file).split(new RegExp(`^#+ ${heading}$`, 'm'))[1] ?? '';
  const rows = /(?:^\|.*\n)+/m.exec(after)?.[0].trimEnd().split('\n') ?? [];
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** A heading's anchor, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (file: string): string[] =>
  [...withoutCode(read(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

const formatted = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

describe('links', () => {
  const links = pages.flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(
      ([, path = '', anchor]) => ({ page, file: path === '' ? page : join(dirname(page), path), anchor }),
    ),
  );

  it('lead to files', () => {
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('lead to headings', () => {
    const dead = links.filter(
      ({ file, anchor }) => anchor !== undefined && !anchorsOf(file).includes(anchor),
    );
    expect(dead).toEqual([]);
  });
});

const optionsIn = (text: string): string[] => [...text.matchAll(/--[a-z][a-z-]*/g)].map(([name]) => name);

/** What `--help` tells of each command, the options it takes over from `up` included. */
const helps: Readonly<Record<string, string>> = {
  up: up.help,
  localnet: localnet.help,
  keys: keys.help,
  upstream: upstream.help,
  reload: reload.help + up.help,
  config: config.help + up.help,
  doctor: doctor.help + up.help,
};

/** `solway NAME …` and its two spellings from the sources, each to the end of the line or of the code. */
const CALL =
  /(?:npm run solway -- |\bsolway )(up|localnet|keys|upstream|reload|config|doctor)\b([^\n`]*)|npm start -- ([^\n`]*)/g;

describe('commands', () => {
  const calls = pages.flatMap((page) =>
    [...read(page).matchAll(CALL)].map(([text, name = 'up', rest = '', start = '']) => ({
      page,
      name,
      text,
      options: optionsIn(rest + start).filter((option) => option !== '--help'),
    })),
  );

  it('have the options that pages name', () => {
    expect(calls.length).toBeGreaterThan(20);
    const wrong = calls.filter(({ name, options }) =>
      options.some((option) => !optionsIn(helps[name] ?? '').includes(option)),
    );
    expect(wrong).toEqual([]);
  });

  it('of the ledger have every option in the table, and no other', () => {
    const told = table('docs/localnet.md', 'Options').map(([option = '']) => optionsIn(option)[0]);
    const listed = localnet.help.split('Options:')[1]?.split('\n\n')[0] ?? '';
    const offered = [...listed.matchAll(/^ {2}(?:-[a-z], )?(--[a-z-]+)/gm)].map(([, option]) => option);
    expect(told.sort()).toEqual(offered.sort());
  });
});

describe('the page for callers', () => {
  it('has the table of errors', () => {
    const told = table('docs/json-rpc.md', 'Errors').map(([name, rpc, http, text]) => [
      name,
      rpc,
      http,
      text,
    ]);
    const known = Object.entries<FailureRow>(failures)
      .filter(([, { rest }]) => rest === undefined)
      .map(([name, row]) => [name, `${row.rpc}`, `${row.http}`, row.text]);
    expect(told).toEqual(known);
  });

  it('tells what to do about each error', () => {
    expect(
      table('docs/json-rpc.md', 'Errors').filter((row) => row[4] === undefined || row[4] === ''),
    ).toEqual([]);
  });

  it('has the table of methods', () => {
    const known = Object.entries(methods).map(([name, row]) => [
      ...[name, row.kind, `${row.cost}`, row.commitment ?? '–', row.context ? 'yes' : '–'],
      name in rpcHandlers ? 'yes' : '–',
    ]);
    expect(table('docs/json-rpc.md', 'Methods')).toEqual(known);
  });

  it('has the defaults of the limits', () => {
    const told = Object.fromEntries(
      table('docs/json-rpc.md', 'Limits').map(([name, value]) => [name, value]),
    );
    const seconds = (ms: number): string => `${ms / 1000} s`;
    expect(told).toEqual({
      body: `${formatted(rpcServerOptions.bodyMaxBytes)} bytes`,
      'calls and notifications in a batch': `${envelopeLimits.batchMax}`,
      'answers to a batch together': `${formatted(rpcServerOptions.batchAnswersMaxBytes)} bytes`,
      'calls of a batch under way at once': `${rpcServerOptions.batchConcurrency}`,
      id: `${envelopeLimits.idMaxBytes} bytes as written`,
      'nesting of the body': `${envelopeLimits.depthMax}`,
      headers: `${formatted(httpOptions.headersMaxBytes)} bytes`,
      'time for the headers, for the whole request': [
        httpOptions.headersTimeoutMs,
        httpOptions.requestTimeoutMs,
      ]
        .map(seconds)
        .join(', '),
      'one call, all attempts together': seconds(defaultUpstreamLimits.timeoutMs),
      answer: `${formatted(defaultUpstreamLimits.responseMaxBytes)} bytes`,
      'connection idle between requests': seconds(httpOptions.keepAliveTimeoutMs),
    });
  });
});

describe('the page of the REST interface', () => {
  const page = 'docs/rest.md';

  it('names every endpoint with its verb', () => {
    const told = table(page, 'Endpoints').map(([name, verb]) => [name, verb]);
    const known = endpoints.map(({ name, verb }) => [name, verb]);
    expect(told.sort()).toEqual(known.sort());
  });

  it('has every failure that a request may end with, with status and text of the row', () => {
    const rows = table(page, 'Errors');
    const wrong = rows.filter(([name = '', http, text, remedy]) => {
      const row: FailureRow | undefined = failures[name as FailureCode];
      return row === undefined || `${row.http}` !== http || (row.restText ?? row.text) !== text || !remedy;
    });
    expect(wrong).toEqual([]);
    const ofListener = [
      'NOT_FOUND',
      'METHOD_NOT_ALLOWED',
      'MALFORMED_HTTP',
      'HEADERS_TOO_LARGE',
      'ENCODED_BODY',
    ];
    const known = new Set([...endpoints.flatMap(failuresOf), ...ofListener, 'FILE_NOT_FOUND']);
    expect(rows.map(([name]) => name).sort()).toEqual([...known].sort());
  });

  it('has the numbers of failures of sent transactions, and no failure is told nowhere', () => {
    const rows = table(page, 'Errors of sent transactions');
    const wrong = rows.filter(([number, name = '', text, remedy]) => {
      const row: FailureRow | undefined = failures[name as FailureCode];
      return `${row?.rpc}` !== number || row?.text !== text || !remedy;
    });
    expect(wrong).toEqual([]);
    const told = [...rows.map(([, name]) => name), ...table(page, 'Errors').map(([name]) => name)];
    const own = Object.entries<FailureRow>(failures).filter(([, { rest }]) => rest === true);
    expect(own.map(([name]) => name).filter((name) => !told.includes(name))).toEqual([]);
  });

  it('has the defaults of the limits', () => {
    const seconds = (ms: number): string => `${formatted(ms / 1_000)} s`;
    expect(table(page, 'Limits').map(([, value]) => value)).toEqual([
      `${restLimits.requestsPerMinute}`,
      `${restLimits.keyInFlightMax}`,
      ...[restLimits.timeoutMs, restLimits.uploadTimeoutMs, confirmationLimits.waitMaxMs].map(seconds),
      `${formatted(restServerOptions.bodyMaxBytes)} bytes`,
      `${formatted(uploadLimits.fileMaxBytes)} bytes`,
      formatted(holdingsLimits.accountsMax),
      ...[nftListLimits.unpagedMax, nftListLimits.searchedMax, nftListLimits.groupedMax].map(formatted),
      formatted(snsLimits.domainsMax),
    ]);
  });
});

describe('the page of subscriptions', () => {
  const page = 'docs/websocket.md';

  it('has the table of subscriptions', () => {
    const known = Object.entries(subscriptions).map(([kind, row]) => [
      ...[kind, row.subscribe, row.unsubscribe, row.notification, `${row.cost}`, row.gap],
    ]);
    expect(table(page, 'Subscriptions')).toEqual(known);
  });

  it('describes each kind, with its parameters and messages that are JSON of this service', () => {
    const told =
      read(page)
        .split(/^## Subscriptions$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const described = [...told.matchAll(/^### (.+)$/gm)].flatMap(([, names = '']) => names.split(', '));
    expect(described.sort()).toEqual(Object.keys(subscriptions).sort());
    const names = Object.values(subscriptions).flatMap((row) => [row.subscribe, row.notification]);
    const messages = blocks(page, 'json').map(
      (text) => JSON.parse(text) as { method?: string; result?: number },
    );
    expect(messages.length).toBeGreaterThan(8);
    for (const { method, result } of messages) if (result === undefined) expect(names).toContain(method);
  });

  it('tells with which code and text connections are closed', () => {
    const rows = table(page, 'When the connection is closed');
    expect(rows.length).toBeGreaterThan(5);
    for (const [code, name = '', text, remedy] of rows) {
      const row = failures[name as FailureCode];
      expect([name, code, text]).toEqual([name, `${row?.close}`, row?.text]);
      expect(remedy).not.toBe('');
    }
  });

  it('tells with which status connections are refused', () => {
    const rows = table(page, 'Connecting');
    expect(rows.length).toBeGreaterThan(3);
    for (const [status, names = ''] of rows) {
      for (const name of names.split(', ')) {
        expect([name, status]).toEqual([name, `${failures[name as FailureCode]?.http}`]);
      }
    }
  });

  it('has the defaults of the limits', () => {
    const seconds = (ms: number): string => `${ms / 1000} s`;
    const { pingIntervalMs, pongTimeoutMs, idleTimeoutMs, queueMaxBytes, callsInFlightMax } =
      webSocketOptions;
    expect(table(page, 'Limits').map(([, value]) => value)).toEqual([
      formatted(defaultPlanLimits.wsConnectionsMax),
      formatted(defaultPlanLimits.wsSubscriptionsMax),
      formatted(subscriptionLimits.keySubscriptionsMax),
      formatted(subscriptionLimits.keyAddressesMax),
      `${formatted(messageRateOptions.messagesPerSecond)}, or as many as the plan has calls`,
      `${formatted(defaultPlanLimits.wsMessageMaxBytes)} bytes`,
      formatted(envelopeLimits.batchMax),
      formatted(callsInFlightMax),
      formatted(queueMaxBytes),
      [pingIntervalMs, pongTimeoutMs].map(seconds).join(', '),
      seconds(idleTimeoutMs),
      seconds(topicHubOptions.openTimeoutMs),
      formatted(FILTER_ADDRESSES_MAX),
    ]);
  });
});

describe('the page of gRPC streams', () => {
  const page = 'docs/grpc.md';
  const statusNames: readonly GrpcCode[] = ['INVALID_ARGUMENT', 'PERMISSION_DENIED', 'RESOURCE_EXHAUSTED'];
  const otherNames: readonly GrpcCode[] = ['INTERNAL', 'UNAVAILABLE', 'UNAUTHENTICATED', 'UNIMPLEMENTED'];
  const statusOf = (code: FailureCode): string | undefined =>
    [...statusNames, ...otherNames].find((name) => numberOf(name) === failures[code].grpc);

  it('tells with which status and text calls and streams are refused', () => {
    const rows = table(page, 'Errors');
    expect(rows.length).toBeGreaterThan(8);
    for (const [status, name = '', text, remedy] of rows) {
      const row: FailureRow = failures[name as FailureCode];
      const told = row.grpcText ?? row.text;
      expect([name, status, text]).toEqual([name, statusOf(name as FailureCode), told]);
      expect(remedy).not.toBe('');
    }
  });

  it('names every call', () => {
    const told = table(page, 'Calls with one answer').flatMap(([names = '']) => names.split(', '));
    expect(told.sort()).toEqual(unaryRpcs.map((name) => `\`${name}\``).sort());
  });

  it('has the defaults of the limits', () => {
    const { grpcStreamsMax, grpcFiltersMax, grpcBlocksMax, grpcPubkeysMax, grpcCuckooMaxBytes } =
      defaultPlanLimits;
    const { messageMaxBytes, streamsPerConnectionMax, queueMaxMessages, queueMaxBytes } = grpcServerOptions;
    const { blocksWaitingMax, behindBlocksMaxMessages, behindBlocksMaxBytes } = blockSchedulerDefaults;
    expect(table(page, 'Limits').map(([, value]) => value)).toEqual([
      ...[grpcStreamsMax, grpcFiltersMax, grpcBlocksMax, grpcPubkeysMax, grpcCuckooMaxBytes].map(formatted),
      `${formatted(messageMaxBytes)} bytes`,
      ...[streamsPerConnectionMax, queueMaxMessages, queueMaxBytes].map(formatted),
      ...[blocksWaitingMax, behindBlocksMaxMessages, behindBlocksMaxBytes].map(formatted),
      `${formatted(messageRateOptions.messagesPerSecond)}, or as many as the plan has calls`,
      formatted(geyserHubOptions.replaySlots),
    ]);
  });
});

describe('the snippets for callers', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.stop());

  const run = async (program: string, args: string[]): Promise<string> => {
    const { rpcUrl, wsUrl, grpcUrl, keys } = service.ready;
    const keyOf = (name: string): string => keys.find(({ product }) => product === name)?.key ?? '';
    const urls = {
      SOLWAY_URL: rpcUrl,
      SOLWAY_WS_URL: wsUrl,
      SOLWAY_BASE_URL: service.ready.url,
      SOLWAY_GRPC_URL: grpcUrl,
    };
    const secrets = { SOLWAY_KEY: service.key, SOLWAY_GRPC_KEY: keyOf('grpc'), SOLWAY_FS_KEY: keyOf('fs') };
    const env = { ...process.env, ...urls, ...secrets };
    return (await promisify(execFile)(program, args, { cwd: root, env, timeout: 30_000 })).stdout;
  };
  const callersPages = ['docs/json-rpc.md', 'docs/websocket.md', 'docs/rest.md', 'docs/grpc.md'];
  const snippets = callersPages.flatMap((page) => blocks(page, 'js'));

  it.each(snippets.map((code, index) => ({ index, code })))('run: $index', async ({ code }) => {
    expect(await run(process.execPath, ['--input-type=module', '--eval', code])).toMatch(/\d/);
  });

  it('run on the shred stage, once a transaction is sent', async () => {
    const [code = ''] = blocks('docs/shred-stage.md', 'js');
    const told = run(process.execPath, ['--input-type=module', '--eval', code]);
    const { rpcUrl } = service.ready;
    let isOver = false;
    void told.finally(() => (isOver = true)).catch(() => {});
    const account = 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8';
    const airdrop = async (): Promise<boolean> => {
      await createRpcClient(rpcUrl, service.key).call('requestAirdrop', [account, 1]);
      return isOver;
    };
    await eventually(airdrop, 'a transaction is heard', { everyMs: 200 });
    expect(await told).toMatch(/^transaction in slot \d+$/m);
  });

  it('run in a shell', async () => {
    const shell = (page: string): Promise<string> => {
      const code = blocks(page, 'sh').join('\n');
      return run('bash', ['-c', code.replace('http://127.0.0.1:8080', service.ready.url)]);
    };
    expect(JSON.parse(await shell('docs/json-rpc.md'))).toMatchObject({ id: 1, result: { value: 1 } });
    expect(JSON.parse(await shell('docs/rest.md'))).toMatchObject({
      success: true,
      result: { balance: 1e-9 },
    });
  });
});

describe('the page for operators', () => {
  it('names every environment variable', () => {
    const named = [
      ...new Set(
        [...read('docs/reference/configuration.md').matchAll(/\bSOLWAY_[A-Z_]+|DATABASE_URL|REDIS_URL/g)].map(
          String,
        ),
      ),
    ];
    const known = [...Object.keys(environmentFields), 'SOLWAY_CONFIG', 'SOLWAY_PEPPER', 'SOLWAY_PEPPER_FILE'];
    expect(named.sort()).toEqual(known.sort());
  });

  it('shows a valid configuration', () => {
    const folder = temporaryFolder('docs');
    const file = join(folder, 'solway.toml');
    writeFileSync(file, blocks('docs/operating.md', 'toml')[0] ?? '');
    writeFileSync(join(folder, 'provider-a.token'), 'token');
    const environment = { PROVIDER_A_URL: 'https://provider.example/key' };
    const { upstreams } = loadConfiguration({ config: file, upstreams: [] }, environment);
    expect(upstreams.map(({ name, network }) => [name, network])).toEqual([
      ['own-1', 'devnet'],
      ['provider-a', 'devnet'],
    ]);
  });
});

describe('the page of the ledger', () => {
  it('names the methods that are not answered, and counts the others', () => {
    const page = read('docs/localnet.md');
    const told = /^Not answered .*?: (.*)\.$/m.exec(page)?.[1]?.split(', ') ?? [];
    expect(told).toEqual(Object.keys(methods).filter((name) => !(name in rpcHandlers)));
    expect(page).toContain(`${Object.keys(rpcHandlers).length} methods;`);
  });
});

describe('the page of the architecture', () => {
  it('gives a reason for every dependency, and names no other', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json'));
    const section =
      read('ARCHITECTURE.md')
        .split(/^## Dependencies$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const [atRun = '', forWork = '', forDashboard = ''] = section.split(
      /For development:|The dashboard's own/,
    );
    const names = (text: string): string[] =>
      [...text.matchAll(/^\| (\S+) \| \S.* \|$/gm)]
        .map(([, name = '']) => name)
        .filter((name) => name !== 'package');
    expect(names(atRun).sort()).toEqual(Object.keys(dependencies).sort());
    expect(names(forWork).sort()).toEqual(Object.keys(devDependencies).sort());
    const web = JSON.parse(read('web/package.json'));
    expect(names(forDashboard).sort()).toEqual(Object.keys(web.devDependencies).sort());
  });

  it('draws the floors that are enforced', () => {
    const source = read('test/architecture.test.ts');
    const literal = /mayImport: [^=]*= (\{[\s\S]*?\n\});/.exec(source)?.[1] ?? '{}';
    const enforced = Object.fromEntries(
      [...literal.matchAll(/^ {2}(\w+): \[([\s\S]*?)\]/gm)].map(([, floor = '', list = '']) => [
        floor,
        [...list.matchAll(/'(\w+)'/g)]
          .map(([, name = '']) => name)
          .filter((name) => existsSync(join(root, 'src', name))),
      ]),
    );
    const there = readdirSync(join(root, 'src'));
    const below = (cell: string): string[] => (cell === '–' ? [] : cell.split(', '));
    const rows = table('ARCHITECTURE.md', 'The floors');
    expect(rows.map(([, folder]) => folder).sort()).toEqual(there.sort());
    for (const [, folder = '', , may = ''] of rows) {
      if (may !== 'all below') expect([folder, below(may)]).toEqual([folder, enforced[folder]]);
    }
  });

  it('names files that exist', () => {
    const text = read('ARCHITECTURE.md');
    const names = [...text.matchAll(/(?<![\w*-])((?:[\w.-]+\/)*[\w-]+(?:\.\w+)*\.ts)\b/g)].map(
      ([, name = '']) => name,
    );
    const all = ['src', 'test', 'bench'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (file) => `${folder}/${file}`,
      ),
    );
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !all.some((file) => file === name || file.endsWith(`/${name}`)))).toEqual(
      [],
    );
  });
});
