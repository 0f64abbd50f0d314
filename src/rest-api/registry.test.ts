import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Network } from '../protocol/call.ts';
import { failures } from '../protocol/errors.ts';
import { endpointNames } from '../protocol/rest/endpoint-names.ts';
import { groupOfPath } from '../protocol/rest/route.ts';
import { failuresOf, withNetworks } from './endpoint.ts';
import { openApi } from './openapi.ts';
import { endpoints } from './registry.ts';

it('registers each endpoint under its metered name', () => {
  expect(endpoints.map(({ name }) => name)).toEqual(endpointNames);
});

it('maps every path to the group of its prefix', () => {
  const groups = endpoints.flatMap(({ paths }) => paths.map((path) => [path, groupOfPath(path)]));
  expect(groups.filter(([, group]) => group === null)).toEqual([]);
  expect(Object.fromEntries(groups)).toMatchObject({
    '/sol/v1/wallet/parsed_transaction_history': 'wallet',
    '/sol/v1/wallet/transaction': 'wallet',
    '/sol/v1/transaction/history': 'transaction',
    '/sol/v1/semi_wallet/get_keypair': 'wallet',
    '/sol/v2/nft/read_all': 'nft',
  });
});

it('declares no path twice', () => {
  const routes = endpoints.flatMap(({ verb, paths }) => paths.map((path) => `${verb} ${path}`));
  expect(routes).toEqual([...new Set(routes)]);
});

it('has the 22 endpoints of the interface at their paths', () => {
  const routes = endpoints.flatMap(({ verb, paths }) => paths.map((path) => `${verb} ${path}`));
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
  expect(spec.filter((route) => !routes.includes(route))).toEqual([]);
});

type Described = { [name: string]: unknown };

describe('OpenAPI document', () => {
  const document = openApi(endpoints, '1.2.3') as Described & {
    paths: Record<string, Record<string, Described & { parameters?: { name: string; schema: object }[] }>>;
    components: { schemas: Described };
  };

  it('lists the configured networks, and no endpoint accepts others', () => {
    const names = ['mainnet-beta', 'staging'] as Network[];
    const configured = endpoints.map((endpoint) => withNetworks(endpoint, names));
    const { paths } = openApi(configured, '1.2.3') as typeof document;
    const [network] = paths['/sol/v1/wallet/balance']?.get?.parameters ?? [];
    expect(network).toMatchObject({ name: 'network', schema: { enum: names, default: 'mainnet-beta' } });
    const text = 'must be one of mainnet-beta, staging';
    for (const { name, fields } of configured) {
      const isRejected = (network: string) =>
        fields.safeParse({ network }).error?.issues.some(({ message }) => message === text) === true;
      const hasNetwork = 'network' in (fields as z.ZodObject).shape;
      expect([isRejected('devnet'), isRejected('staging')], name).toEqual([hasNetwork, false]);
    }
  });

  it('lists the failures of every endpoint with their status', () => {
    for (const endpoint of endpoints) {
      const { responses } = document.paths[endpoint.paths[0]]?.[endpoint.verb.toLowerCase()] ?? {};
      for (const code of failuresOf(endpoint)) {
        const answer = (responses as Record<string, Described>)[failures[code].http];
        expect(answer?.description).toContain(`${code}: `);
      }
    }
  });
});
