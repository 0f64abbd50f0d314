import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endpointNames } from '../protocol/rest/endpoint-names.ts';
import { endpointGroups } from '../protocol/rest/route.ts';
import { openApi } from './openapi.ts';
import { endpoints } from './registry.ts';

it('has each endpoint under the name that it is counted as', () => {
  expect(endpoints.map(({ name }) => name)).toEqual(endpointNames);
});

it('has each endpoint in the group that its path begins with', () => {
  const groupOf = (path: string) => /^\/sol\/v[12]\/(?:semi_)?(\w+?)\//.exec(path)?.[1];
  for (const { paths, group } of endpoints) expect([paths[0], groupOf(paths[0])]).toEqual([paths[0], group]);
  expect(new Set(endpoints.map(({ group }) => group))).toEqual(new Set(endpointGroups));
});

it('has each endpoint in a file of its name', () => {
  const missing = endpointNames.filter((name) => !existsSync(join(import.meta.dirname, `${name}.ts`)));
  expect(missing).toEqual([]);
});

it('claims no path twice', () => {
  const places = endpoints.flatMap(({ verb, paths }) => paths.map((path) => `${verb} ${path}`));
  expect(places).toEqual([...new Set(places)]);
});

it('has the 22 endpoints of the interface at their paths', () => {
  const places = endpoints.flatMap(({ verb, paths }) => paths.map((path) => `${verb} ${path}`));
  const v1 = (verb: string, ...names: string[]) => names.map((name) => `${verb} /sol/v1/${name}`);
  const spec = [
    ...v1('GET', 'wallet/balance', 'wallet/all_tokens', 'wallet/token_balance', 'wallet/get_domains'),
    ...v1('GET', 'wallet/resolve_address', 'wallet/stake_accounts', 'wallet/collections'),
    ...v1('POST', 'wallet/send_sol', 'wallet/create_semi_wallet'),
    ...v1('GET', 'wallet/decrypt_semi_wallet', 'nft/read', 'nft/search', 'token/get_info'),
    'GET /sol/v2/nft/read_all',
    ...v1('GET', 'transaction/parsed', 'transaction/history'),
    ...v1('POST', 'nft/read_selected', 'transaction/parse_selected', 'transaction/send_txn'),
    ...v1('POST', 'transaction/send_many_txns', 'storage/upload', 'metadata/create'),
  ];
  expect(spec).toHaveLength(22);
  expect(spec.filter((place) => !places.includes(place))).toEqual([]);
});

it('becomes OpenAPI in which every parameter and every member of a result is described by a type', () => {
  const document = openApi(endpoints, '1.2.3') as {
    paths: Record<string, Record<string, { parameters?: { name: string; schema: object }[] }>>;
  };
  const operations = Object.values(document.paths).flatMap((verbs) => Object.values(verbs));
  expect(operations).toHaveLength(endpoints.length);
  const untyped = operations.flatMap(({ parameters = [] }) =>
    parameters.filter(({ schema }) => Object.keys(schema).length === 0).map(({ name }) => name),
  );
  expect(untyped).toEqual([]);
});
