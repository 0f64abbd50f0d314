import { ArgumentsError } from '../../config/errors.ts';
import { DEFAULT_CUSTOMER_ID } from '../../control/accounts/roles.ts';
import { notFound } from '../../control/api/api-error.ts';
import { type ApiClient, bodyOf, remoteApi } from '../../control/api/client.ts';
import type { RouteInput } from '../../control/api/contract/contract.ts';
import type { KeyOwnerJson } from '../../control/api/contract/keys.ts';
import type { Store } from '../../control/database/store.ts';
import { checkOverlap, type KeyChange } from '../../control/keys/change-key.ts';
import type { CreateKeyOptions } from '../../control/keys/create-key.ts';
import type { KeyView } from '../../control/keys/key-register.ts';
import { addMissingPlans } from '../../control/plans.ts';
import { findApiKeys, parseKeyId } from '../../gateway/auth/api-key.ts';
import { type Product, products } from '../../protocol/product.ts';
import { checkStoreExists } from '../store.ts';
import { type OfflineOptions, withOfflineApi } from './offline-api.ts';

type CreateKeyInput = Omit<CreateKeyOptions, 'product' | 'networks'> &
  Readonly<{ product: string; networks?: readonly string[] | undefined }>;

type ChangeKeyInput = Omit<KeyChange, 'networks'> &
  Readonly<{ networks?: readonly string[] | null | undefined }>;

type ListKeysInput = Readonly<{
  product?: string | undefined;
  state?: string | undefined;
  search?: string | undefined;
  sort?: string | undefined;
  withRevoked: boolean;
}>;

export type KeyCommands = ReturnType<typeof commandsOf>;

function keyIdOf(keyText: string): string {
  const id = parseKeyId(keyText);
  if (id !== null) return id;
  throw notFound('invalid key: use the id of 8 characters shown by "solway keys list"');
}

function productOf(name: string): Product {
  if (Object.hasOwn(products, name)) return name as Product;
  const productNames = Object.keys(products).join(', ');
  throw new ArgumentsError(`unknown product "${name.slice(0, 32)}": use one of ${productNames}`);
}

const PAGE_KEYS = 1_000;

async function listAll(
  api: ApiClient,
  customer: string,
  query: NonNullable<RouteInput<'GET /customers/{customer}/keys'>['query']>,
): Promise<KeyView[]> {
  const all: KeyView[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.call('GET /customers/{customer}/keys', {
      path: { customer },
      query: { ...query, limit: PAGE_KEYS, ...(cursor !== undefined && { cursor }) },
    });
    all.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return all;
}

type Create = RouteInput<'POST /customers/{customer}/keys'>['body'];
type Change = RouteInput<'PATCH /customers/{customer}/keys/{key}'>['body'];

function commandsOf(api: ApiClient, customer: string) {
  const at = (keyText: string) => ({ path: { customer, key: keyIdOf(keyText) } });
  return {
    create: async ({ product, ...rest }: CreateKeyInput) =>
      api.call('POST /customers/{customer}/keys', {
        path: { customer },
        body: bodyOf<Create>({ ...rest, product: productOf(product) }),
      }),
    list: async ({ product, search, withRevoked, ...rest }: ListKeysInput) =>
      listAll(api, customer, {
        // The service checks the other fields.
        ...(rest as object),
        withRevoked: String(withRevoked),
        ...(product !== undefined && { product: productOf(product) }),
        // Without the secret of a key, which must not get into a URL.
        ...(search !== undefined && { search: parseKeyId(search) ?? search }),
      }),
    change: async (key: string, change: ChangeKeyInput) =>
      api.call('PATCH /customers/{customer}/keys/{key}', { ...at(key), body: bodyOf<Change>(change) }),
    /** @param overlapMs - undefined: the service's default. */
    rotate: async (key: string, overlapMs: number | undefined) => {
      if (overlapMs !== undefined) checkOverlap(overlapMs);
      const body = overlapMs === undefined ? {} : { overlapMs };
      return api.call('POST /customers/{customer}/keys/{key}/rotate', { ...at(key), body });
    },
    cutOverlap: async (key: string) => api.call('POST /customers/{customer}/keys/{key}/cut', at(key)),
    revoke: async (key: string) => api.call('POST /customers/{customer}/keys/{key}/revoke', at(key)),
    disable: async (key: string) => api.call('POST /customers/{customer}/keys/{key}/disable', at(key)),
    enable: async (key: string) => api.call('POST /customers/{customer}/keys/{key}/enable', at(key)),
    identify: (text: string) => identifyKey(api, text),
  };
}

/** Maximum number of keys that one request looks up. */
const KEYS_PER_REQUEST = 8;

async function identifyKey(api: ApiClient, text: string): Promise<KeyOwnerJson> {
  const keys = [...new Set(findApiKeys(text))];
  let identified: KeyOwnerJson = { wellFormed: false, matches: false, key: null };
  for (let from = 0; from < keys.length && !identified.matches; from += KEYS_PER_REQUEST) {
    const batch = keys.slice(from, from + KEYS_PER_REQUEST).join(' ');
    const next = await api.call('POST /keys/whose', { body: { text: batch } });
    if (next.key !== null || identified.key === null) identified = next;
  }
  return identified;
}

/** Result for text without keys, which needs no lookup; null if the text contains keys. */
export function identifyKeyOffline(text: string): KeyOwnerJson | null {
  if (findApiKeys(text).length > 0) return null;
  return { wellFormed: false, matches: false, key: null };
}

type KeyCommandsOptions = OfflineOptions &
  Readonly<{
    customer: string | undefined;
    createIfMissing: boolean;
  }>;

/** @throws the same errors as `withOfflineApi` */
export async function withKeyCommands<Result>(
  { customer = DEFAULT_CUSTOMER_ID, createIfMissing, ...options }: KeyCommandsOptions,
  work: (commands: KeyCommands) => Promise<Result>,
): Promise<Result> {
  const { configuration, actor } = options;
  if (!createIfMissing) checkStoreExists(configuration);
  const prepare = async (store: Store) => {
    await addMissingPlans(store, configuration.plans, `cli:${actor}`);
    return {};
  };
  return withOfflineApi(options, (api) => work(commandsOf(api, customer)), prepare);
}

/** Remote key commands, by default for the token's first customer. @throws ApiError, OperatorError */
export async function remoteKeyCommands({
  url,
  token,
  customer,
}: Readonly<{ url: string; token: string; customer: string | undefined }>): Promise<KeyCommands> {
  const api = remoteApi({ url, token });
  if (customer !== undefined) return commandsOf(api, customer);
  const { customers } = await api.call('GET /me', {});
  return commandsOf(api, customers[0]?.id ?? DEFAULT_CUSTOMER_ID);
}
