import { describe, expect, it } from 'vitest';
import { failures } from '../protocol/errors.ts';
import { endpointNames } from '../protocol/rest/endpoint-names.ts';
import { groupOfPath } from '../protocol/rest/route.ts';
import { failuresOf } from './endpoint.ts';
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

type Described = { [name: string]: unknown };

const isObject = (value: unknown): value is Described =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Schema paths without description. */
function silent(schema: unknown, place: string): string[] {
  if (!isObject(schema)) return [place];
  const says = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'description'];
  const here = says.some((word) => word in schema) ? [] : [place];
  const members = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const inside = members.flatMap(([name, member]) => silent(member, `${place}.${name}`));
  return [...here, ...inside, ...(schema.items === undefined ? [] : silent(schema.items, `${place}[]`))];
}

function references(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (!isObject(value)) return [];
  const own = typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

describe('OpenAPI document', () => {
  const document = openApi(endpoints, '1.2.3') as Described & {
    paths: Record<string, Record<string, Described & { parameters?: { name: string; schema: object }[] }>>;
    components: { schemas: Described };
  };
  const operations = Object.values(document.paths).flatMap((verbs) => Object.values(verbs));

  it('lists the failures of every endpoint with their status', () => {
    for (const endpoint of endpoints) {
      const { responses } = document.paths[endpoint.paths[0]]?.[endpoint.verb.toLowerCase()] ?? {};
      for (const code of failuresOf(endpoint)) {
        const answer = (responses as Record<string, Described>)[failures[code].http];
        expect(answer?.description).toContain(`${code}: `);
      }
    }
  });

  it('resolves every reference', () => {
    const places = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(references(document).filter((place) => !places.includes(place))).toEqual([]);
  });

  it.each(operations.map((operation) => [operation.operationId as string, operation] as const))(
    'describes every field and result member of %s',
    (name, { parameters = [], requestBody, responses }) => {
      const content = (part: unknown): unknown =>
        Object.values((part as { content: Record<string, { schema: unknown }> }).content)[0]?.schema;
      const request = parameters.flatMap((one) => silent(one.schema, one.name));
      const body = requestBody === undefined ? [] : silent(content(requestBody), 'body');
      const answer = content((responses as Record<string, unknown>)['200']) as {
        properties: { result: Described };
      };
      const { result } = answer.properties;
      expect([...request, ...body, ...silent(result, 'result')]).toEqual([]);
      // jsonParsed transactions have no fixed members.
      if (['transaction_raw', 'wallet_transaction_history'].includes(name)) return;
      const { properties, anyOf } = (result.items ?? result) as Described;
      expect(properties ?? anyOf, name).toBeDefined();
    },
  );
});
