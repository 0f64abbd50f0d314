import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rpcHandlers } from '../packages/localnet/src/rpc-handlers.ts';
import { testMethods } from '../packages/localnet/src/test-methods/test-handlers.ts';
import { publicEntries } from '../src/config/schema.ts';
import { environmentFields } from '../src/config/sources.ts';
import { contract } from '../src/control/api/contract/contract.ts';
import { type FailureCode, failures } from '../src/protocol/errors.ts';
import { subscriptions } from '../src/protocol/subscriptions.ts';
import { failuresOf } from '../src/rest-api/endpoint.ts';
import { endpoints } from '../src/rest-api/registry.ts';
import { unaryRpcs } from '../src/streams/geyser/geyser-handler.ts';
import { metricFamilies } from './project/metric-families.ts';
import { blocks, pages, read, root, table } from './project/pages.ts';
import { blocksIn, referenceBlocks, rowsOfBlock, withBlocks } from './project/reference-blocks.ts';

const reference = (name: string): string => `docs/reference/${name}.md`;

describe('the generated parts of the documentation', () => {
  it.each(pages.map((page) => [page]))('%s is current; else run npm run docs:reference', (page) => {
    const text = read(page);
    expect(text).toBe(withBlocks(text));
  });

  it('are all on some page', () => {
    const used = pages.flatMap((page) => blocksIn(read(page)));
    expect(used.sort()).toEqual(Object.keys(referenceBlocks).sort());
  });

  it('say what to do about each error and limit', () => {
    const written = /(errors|close-codes|websocket-refusals|grpc-statuses|limits)$/;
    const names = pages.flatMap((page) =>
      blocksIn(read(page)).flatMap((name) => (written.test(name) ? [{ page, name }] : [])),
    );
    expect(names.length).toBeGreaterThan(8);
    for (const { page, name } of names) {
      const rows = rowsOfBlock(page, name);
      expect(rows.length).toBeGreaterThan(3);
      expect(rows.filter((row) => (row.at(-1) ?? '') === '' || row.includes('unknown'))).toEqual([]);
    }
  });
});

describe('the reference of errors', () => {
  const rows = [
    ...rowsOfBlock(reference('errors'), 'errors'),
    ...rowsOfBlock(reference('errors'), 'rest-errors'),
  ];

  it('has every failure, also those of each REST endpoint', () => {
    const names = rows.map(([name]) => name);
    expect(names.toSorted()).toEqual(Object.keys(failures).sort());
    expect(endpoints.flatMap(failuresOf).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('shows the messages of the service', () => {
    const samples = pages
      .flatMap((page) => blocks(page, 'json'))
      .map((text) => JSON.parse(text) as { error?: { code: number; message: string; data?: object } })
      .flatMap(({ error }) => (error?.data === undefined ? [] : [error]));
    expect(samples.length).toBeGreaterThan(0);
    for (const { code, message, data } of samples) {
      const row = failures[(data as { code: FailureCode }).code];
      expect([row.rpc, row.text]).toEqual([code, message]);
    }
  });
});

describe('the reference of the interfaces', () => {
  it('describes each kind of subscription, with messages that exist', () => {
    const page = reference('websocket');
    const section =
      read(page)
        .split(/^## Subscriptions$/m)[1]
        ?.split(/^## /m)[0] ?? '';
    const described = [...section.matchAll(/^### (.+)$/gm)].flatMap(([, names = '']) => names.split(', '));
    expect(described.sort()).toEqual(Object.keys(subscriptions).sort());
    const names = Object.values(subscriptions).flatMap((row) => [row.subscribe, row.notification]);
    const messages = blocks(page, 'json').map(
      (text) => JSON.parse(text) as { method?: string; result?: number },
    );
    expect(messages.length).toBeGreaterThan(8);
    for (const { method, result } of messages) if (result === undefined) expect(names).toContain(method);
  });

  it('names every unary gRPC call', () => {
    const named = table(reference('grpc'), 'Unary calls').flatMap(([names = '']) => names.split(', '));
    expect(named.sort()).toEqual(unaryRpcs.map((name) => `\`${name}\``).sort());
  });

  it('names only gRPC calls that exist in grpcurl commands', () => {
    const known = ['Subscribe', 'SubscribeDeshred', ...unaryRpcs];
    const called = pages.flatMap((page) =>
      [...read(page).matchAll(/grpcurl .* geyser\.Geyser\/(\w+)/g)].map(([, name = '']) => name),
    );
    expect(called.length).toBeGreaterThan(3);
    expect(called.filter((name) => !known.includes(name))).toEqual([]);
    const messages = pages.flatMap((page) => [...read(page).matchAll(/grpcurl .* -d '([^']+)'/g)]);
    for (const [, message = ''] of messages) expect(() => JSON.parse(message)).not.toThrow();
  });

  it('counts the methods of the embedded ledger', () => {
    const count = Object.keys(rpcHandlers).length;
    expect(read(reference('embedded-ledger'))).toContain(`It answers ${count} methods;`);
  });

  it('names only routes of the control API that exist', () => {
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:GET|POST|PATCH|DELETE) )(?:\/api\/v1)?(\/[^` ?]*)`/g)]
        .map(([, verb = '', path = '']) => ({ page, route: `${verb}${path}` }))
        .filter(({ route }) =>
          /^\w+ \/(customers|keys|tokens|audit|checks|me$|upstreams|secret)\b/.test(route),
        ),
    );
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ route }) => !(route in contract))).toEqual([]);
  });

  it('names only error codes of the control API that exist', () => {
    const folder = join(root, 'src/control');
    const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
    const named = table(reference('control-api'), 'Responses').flatMap(([, codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => code),
    );
    expect(named.length).toBeGreaterThan(12);
    expect(named.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
  });

  it('names every environment variable', () => {
    const named = new Set(
      [...read(reference('cli')).matchAll(/`(SOLWAY_[A-Z_]+|DATABASE_URL|REDIS_URL|CLICKHOUSE_URL)`/g)].map(
        ([, name = '']) => name,
      ),
    );
    const others = ['SOLWAY_CONFIG', 'SOLWAY_PEPPER', 'SOLWAY_PEPPER_FILE', 'SOLWAY_TOKEN'];
    expect([...named].sort()).toEqual([...Object.keys(environmentFields), ...others].sort());
  });
});

describe('settings in the documentation', () => {
  it('exist', () => {
    const sections = new Set(publicEntries.map(([name]) => name));
    const known = new Set(
      publicEntries.flatMap(([name, entry]) =>
        entry.form === 'option' ? [name] : Object.keys(entry.rows).map((field) => `${name}.${field}`),
      ),
    );
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`([a-z_]+)\.(\w+)(?: = [^`]*)?`/g)]
        // Excludes a file and an option of grpc-js.
        .filter(([, group = '', name = '']) => sections.has(group) && !/^(proto|max_receive)/.test(name))
        .map(([, group, name]) => ({ page, setting: `${group}.${name}` })),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ setting }) => !known.has(setting))).toEqual([]);
  });
});

describe('metrics in the documentation', () => {
  it('exist', () => {
    const families = metricFamilies.map(({ name }) => name);
    // Methods of the local ledger have the same prefix.
    const known = [...families, ...Object.keys(testMethods)];
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/(?<!\$)\bsolway_[a-z0-9_]+(?![a-z0-9_…])/g)].map(([name]) => ({ page, name })),
    );
    expect(named.length).toBeGreaterThan(families.length);
    expect(named.filter(({ name }) => !known.includes(name))).toEqual([]);
  });
});
