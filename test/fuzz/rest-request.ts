import { z } from 'zod';
import { writeJson } from '../../src/base/json.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { InvalidFields } from '../../src/protocol/rest/invalid-fields.ts';
import type { RestCaller, RestInput } from '../../src/protocol/rest/route.ts';
import { endpoints } from '../../src/rest-api/registry.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { readJsonBody, readQuery } from '../../src/servers/rest/decode.ts';
import { seeds as transactions } from './decode-transaction.ts';
import { type JsonSchema, jsonFor } from './engine/generate-json.ts';
import type { Random } from './engine/mutate.ts';

export const from = 'clients';
export const covers = [
  'rest-api/metadata/create.ts',
  'rest-api/nft/nft-filters.ts',
  'rest-api/routes.ts',
  'servers/rest/decode.ts',
];

const KEY = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const SIGNATURE = '5h6xBEauJ3PK6SWCZ1PGjBvj8vDdWG3KpwATGy1ARAXFSDwt8GFXM7W5Ncn16wmqokgpiKRLuS83KUxyZyv2sUYv';

const WIRE = Buffer.from(transactions[0] ?? []).toString('base64');

const services = { settings: { historyDays: 3, domainSuffix: '.sol' } } as Record<string, unknown>;
const away = (): never => {
  throw new Failure('UPSTREAM_UNAVAILABLE');
};
/** Everything behind the fields is away: what they are is all that counts. */
for (const name of ['offChain', 'das', 'tokenList', 'files', 'semiWallets', 'confirmations'])
  services[name] = new Proxy({}, { get: () => away });

const caller: RestCaller = {
  ownerId: 'family',
  signal: new AbortController().signal,
  request: async () => away(),
};
const routes = endpoints.map((endpoint) => routeOf(endpoint, services as unknown as Services));

/** Something of its kind for every field that any endpoint has. */
export const everyField = {
  ...{ network: 'devnet', wallet: KEY, wallet_address: KEY, address: KEY, account: KEY, token_address: KEY },
  ...{ token_addresses: [KEY], transaction_signatures: [SIGNATURE], txn_signature: SIGNATURE, tx_num: 5 },
  ...{ encoded_transactions: [WIRE], encoded_transaction: WIRE, from_address: KEY, to_address: KEY },
  ...{ commitment: 'confirmed', page: 1, size: 10, password: 'secret words', domain: 'a.sol', amount: 0.5 },
  ...{ name: 'n', symbol: 's', description: 'd', image: 'ipfs://a', external_url: 'https://a.example' },
  ...{ attributes: { energy: { gte: '1' } }, royalty: { lt: 5 }, share: 100, creators: [KEY] },
};
const query = Object.entries(everyField)
  .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
  .join('&');

/** The first byte names the endpoint, the second says whether a query or a body follows. */
export const seeds: readonly Uint8Array[] = routes.flatMap((_, at) => [
  Buffer.from([at, 0, ...Buffer.from(query)]),
  Buffer.from([at, 1, ...Buffer.from(JSON.stringify(everyField))]),
]);

const schemas = endpoints.map(
  ({ fields }) => z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' }) as JsonSchema,
);

/** Bodies that are as the endpoint has its fields, or nearly. */
export function generate(random: Random): Uint8Array {
  const at = random() % endpoints.length;
  return Buffer.from([at, 1, ...Buffer.from(writeJson(jsonFor(schemas[at] ?? {}, random)))]);
}

function inputOf(bytes: Uint8Array): RestInput {
  const rest = Buffer.from(bytes.subarray(2));
  const isQuery = (bytes[1] ?? 0) % 2 === 0;
  return {
    query: readQuery(isQuery ? rest.toString('latin1') : ''),
    body: isQuery ? undefined : readJsonBody(rest),
    file: null,
  };
}

const isAnswerable = ({ problems }: InvalidFields): boolean =>
  problems.length > 0 && problems.length <= 20 && problems.every(({ message }) => message !== '');

/** An endpoint takes the fields or names those that are wrong, each in words. @returns whether it took them. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const route = routes[(bytes[0] ?? 0) % routes.length];
  try {
    await route?.handle(inputOf(bytes), caller);
    return true;
  } catch (error) {
    if (error instanceof InvalidFields) {
      if (!isAnswerable(error)) throw new Error('refused without a word of why');
      return false;
    }
    if (error instanceof Failure) return true;
    throw error;
  }
}
