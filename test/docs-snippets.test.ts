import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfiguration } from '../src/config/configuration.ts';
import { metricFamilies } from './project/metric-families.ts';
import { blocks, codeBlocks, pages, root } from './project/pages.ts';
import { rowsOfBlock } from './project/reference-blocks.ts';
import { eventually } from './service/eventually.ts';
import { temporaryFolder } from './service/program.ts';
import { createRpcClient } from './service/rpc-client.ts';
import { type RunningService, startService } from './service/start-service.ts';

const blocksOf = (language: string): { page: string; code: string }[] =>
  pages.flatMap((page) => blocks(page, language).map((code) => ({ page, code })));

const python = spawnSync('python3', ['--version']).error === undefined;

describe('code in the documentation', () => {
  it('has a language that is checked here, or by a test of its own', () => {
    const checked = ['sh', 'js', 'json', 'toml', 'python', 'nginx', 'text'];
    const languages = pages.flatMap((page) => codeBlocks(page).map(({ language }) => ({ page, language })));
    expect(languages.length).toBeGreaterThan(80);
    expect(languages.filter(({ language }) => !checked.includes(language))).toEqual([]);
  });

  it.each(blocksOf('sh'))('is shell in $page', ({ code }) => {
    const { status, stderr } = spawnSync('bash', ['-n', '-c', code], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it.each(blocksOf('json'))('is JSON in $page', ({ code }) => {
    expect(() => JSON.parse(code)).not.toThrow();
  });

  it.each(blocksOf('toml'))('is a configuration in $page', ({ code }) => {
    const folder = temporaryFolder('docs');
    const file = join(folder, 'solway.toml');
    writeFileSync(file, code.replaceAll('/etc/solway/', `${folder}/`));
    for (const name of ['provider-a.token', 'cert.pem', 'key.pem'])
      writeFileSync(join(folder, name), 'token');
    const environment = {
      PROVIDER_A_URL: 'https://provider.example/key',
      DATABASE_URL: 'postgres://solway@db.example/solway',
      REDIS_URL: 'redis://redis.example',
      CLICKHOUSE_URL: 'https://clickhouse.example/solway',
      ...{ OIDC_SECRET: 'secret', NODE_TOKEN: 'token', TOKEN: 'token', METRICS_TOKEN: 'x'.repeat(32) },
    };
    const configuration = loadConfiguration({ config: file, upstreams: [] }, environment);
    const names = [...code.matchAll(/^\[\[upstream\]\]\nname = "(.*)"$/gm)].map(([, name]) => name);
    expect(configuration.upstreams.map(({ name }) => name)).toEqual(names);
  });

  it.skipIf(!python).each(blocksOf('python'))('is Python in $page', ({ code }) => {
    const check = 'import ast, sys; ast.parse(sys.stdin.read())';
    expect(spawnSync('python3', ['-c', check], { input: code, encoding: 'utf8' }).stderr).toBe('');
  });
});

describe('code in the documentation, run against the service', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService({
      configuration: '[localnet]\nslot_ms = 50\n[metrics]\nopen = true\n[shreds]\nudp = "auto"\n',
    });
  });
  afterAll(() => service?.stop());

  const environment = (): NodeJS.ProcessEnv => {
    const { rpcUrl, wsUrl, grpcUrl, keys } = service.ready;
    const keyOf = (name: string): string => keys.find(({ product }) => product === name)?.key ?? '';
    return {
      ...process.env,
      SOLWAY_URL: rpcUrl,
      SOLWAY_WS_URL: wsUrl,
      SOLWAY_BASE_URL: service.ready.url,
      SOLWAY_GRPC_URL: grpcUrl,
      ...{ SOLWAY_KEY: service.key, SOLWAY_GRPC_KEY: keyOf('grpc'), SOLWAY_FS_KEY: keyOf('fs') },
    };
  };

  const run = async (program: string, args: string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { cwd: root, env: environment(), timeout: 30_000 })).stdout;

  /** Replaces the address and keys of the page with those of the service. */
  const filledIn = (code: string): string =>
    code
      .replaceAll('127.0.0.1:8080', new URL(service.ready.url).host)
      .replaceAll('svc_rpc_live_…', service.key)
      .replaceAll('npx node', `'${process.execPath}'`);

  const shell = (code: string): Promise<string> => run('bash', ['-c', filledIn(code)]);

  const [deshred = ''] = blocks('docs/reference/shred-stream.md', 'js');
  const snippets = blocksOf('js').filter(({ code }) => code !== deshred);

  it.each(snippets)('runs in Node.js: $page', async ({ code }) => {
    expect(await run(process.execPath, ['--input-type=module', '--eval', code])).toMatch(/\d/);
  });

  it('receives a transaction on the shred stream', async () => {
    const printed = run(process.execPath, ['--input-type=module', '--eval', deshred]);
    const { rpcUrl } = service.ready;
    let isOver = false;
    void printed.finally(() => (isOver = true)).catch(() => {});
    const account = 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8';
    const airdrop = async (): Promise<boolean> => {
      await createRpcClient(rpcUrl, service.key).call('requestAirdrop', [account, 1]);
      return isOver;
    };
    await eventually(airdrop, 'a transaction is received', { everyMs: 200 });
    expect(await printed).toMatch(/^transaction in slot \d+$/m);
  });

  const calls = blocksOf('sh').filter(({ code }) => /^curl .*127\.0\.0\.1:8080/m.test(code));

  it.each(calls)('runs in a shell: $page', async ({ code }) => {
    const response = JSON.parse(await shell(code)) as { result?: unknown; success?: boolean };
    expect(response).toHaveProperty('result');
    expect(response.success ?? true).toBe(true);
  });

  it('returns the responses that the pages show', async () => {
    const [, , health = ''] = blocks('docs/tutorial/first-call.md', 'sh');
    const [shownHealth = ''] = blocks('docs/tutorial/first-call.md', 'json');
    expect(JSON.parse(await shell(health))).toEqual(JSON.parse(shownHealth));
    const [balance = ''] = blocks('docs/reference/rest.md', 'sh');
    const [, shownBalance = ''] = blocks('docs/reference/rest.md', 'json');
    expect(JSON.parse(await shell(balance))).toEqual(JSON.parse(shownBalance));
    const invalid = await fetch(`${service.ready.url}/sol/v1/wallet/balance`, {
      headers: { 'x-api-key': service.key },
    });
    const [, shownInvalid = ''] = blocks('docs/reference/errors.md', 'json');
    expect(await invalid.json()).toEqual(JSON.parse(shownInvalid));
  });

  it('reports metrics with the labels of the reference', async () => {
    await createRpcClient(service.ready.rpcUrl, service.key).call('getSlot', []);
    const text = await (await fetch(`${service.ready.url}/metrics`)).text();
    const labels = new Map(
      [...text.matchAll(/^([a-z_0-9]+)(?:\{([^}]*)\})? /gm)].map(([, name = '', pairs = '']) => [
        name.replace(/_(bucket|sum|count)$/, ''),
        [...pairs.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
      ]),
    );
    const rows = rowsOfBlock('docs/reference/metrics.md', 'metrics');
    expect(rows.length).toBe(metricFamilies.length);
    for (const [cell = '', , , written = ''] of rows) {
      const name = cell.slice(1, -1);
      const named = [...written.matchAll(/`(\w+)`/g)].map(([, label]) => label);
      const seen = labels.get(name);
      if (seen !== undefined) expect([name, named.filter((label) => label !== 'le')]).toEqual([name, seen]);
    }
    expect(labels.size).toBeGreaterThan(35);
  });

  it('subscribes to slots in the first tutorial', async () => {
    const [code = ''] = blocks('docs/tutorial/first-call.md', 'sh').filter((text) =>
      text.includes('new WebSocket'),
    );
    const child = spawn('bash', ['-c', `exec ${filledIn(code)}`], { env: environment() });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += String(chunk);
    });
    await eventually(async () => printed.includes('slotNotification'), 'a slot is printed');
    child.kill();
    await once(child, 'exit');
  });
});
