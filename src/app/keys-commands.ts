import { existsSync } from 'node:fs';
import { apiKeysWithin, keyIdIn } from '../access/api-key.ts';
import { createLogger } from '../base/log.ts';
import { HOUSE_CUSTOMER_ID } from '../control/accounts/roles.ts';
import { type ApiClient, remoteApi } from '../control/api/client.ts';
import type { Asked } from '../control/api/contract/contract.ts';
import { buildHandlers } from '../control/api/handlers/handlers.ts';
import { ControlApi } from '../control/api/server/control-api.ts';
import type { KeyChange } from '../control/keys/change-key.ts';
import { KeyRefusedError } from '../control/keys/key-register.ts';
import type { KeyView } from '../control/keys/key-view.ts';
import type { CreateKeyOptions, NewKey } from '../control/keys/keys.ts';
import { checkOverlap } from '../control/keys/rotate-key.ts';
import type { Whose } from '../control/keys/whose-key.ts';
import { openPeppers } from '../control/pepper-proof.ts';
import { addMissingPlans } from '../control/plans.ts';
import { type Product, products } from '../protocol/product.ts';
import type { Configuration } from './configuration.ts';
import type { Environment } from './configuration-secrets.ts';
import { apiServicesOf } from './control-services.ts';
import { databaseFile } from './data-dir.ts';
import { openStore, pepperSources } from './store.ts';

/** What a key is made with, as a person writes it. Times are Unix milliseconds. */
export type KeyWish = Omit<CreateKeyOptions, 'product' | 'customerId' | 'networks'> &
  Readonly<{ product: string; networks?: readonly string[] | undefined }>;

/** What is changed of a key, as a person writes it. */
export type KeyRevision = Omit<KeyChange, 'networks'> &
  Readonly<{ networks?: readonly string[] | null | undefined }>;

/** The operations on keys, as a person at the command line has them. */
export type KeyOffice = Readonly<{
  create(options: KeyWish): Promise<NewKey>;
  list(options: { product?: string | undefined; withRevoked: boolean }): Promise<KeyView[]>;
  change(key: string, change: KeyRevision): Promise<KeyView>;
  /** @param overlapMs - absent: as the service has it. */
  rotate(key: string, overlapMs: number | undefined): Promise<NewKey & { old: KeyView }>;
  cutOverlap(key: string): Promise<KeyView>;
  revoke(key: string): Promise<KeyView>;
  disable(key: string): Promise<KeyView>;
  enable(key: string): Promise<KeyView>;
  whose(text: string): Promise<Whose>;
}>;

/** @throws KeyRefusedError not-found */
function keyIdOf(named: string): string {
  const id = keyIdIn(named);
  if (id !== null) return id;
  throw new KeyRefusedError(
    'not-found',
    'that names no key: give its id of 8 characters, as "solway keys list" shows it',
  );
}

function productOf(named: string): Product {
  if (Object.hasOwn(products, named)) return named as Product;
  const known = Object.keys(products).join(', ');
  throw new KeyRefusedError('invalid', `there is no product "${named.slice(0, 32)}": it is one of ${known}`);
}

const PAGE_KEYS = 1_000;

async function listAll(
  api: ApiClient,
  customer: string,
  query: { product?: Product; withRevoked: string },
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

/** What is to be said of a key, in the shape of the contract: lists of its own, and nothing that is undefined. */
const bodyOf = <Body>(fields: object): Body => JSON.parse(JSON.stringify(fields)) as Body;

type Create = Asked<'POST /customers/{customer}/keys'>['body'];
type Change = Asked<'PATCH /customers/{customer}/keys/{key}'>['body'];

function officeOf(api: ApiClient, customer: string): KeyOffice {
  const at = (named: string) => ({ path: { customer, key: keyIdOf(named) } });
  return {
    create: async ({ product, ...rest }) =>
      api.call('POST /customers/{customer}/keys', {
        path: { customer },
        body: bodyOf<Create>({ ...rest, product: productOf(product) }),
      }),
    list: async ({ product, withRevoked }) =>
      listAll(api, customer, {
        withRevoked: String(withRevoked),
        ...(product !== undefined && { product: productOf(product) }),
      }),
    change: async (key, change) =>
      api.call('PATCH /customers/{customer}/keys/{key}', { ...at(key), body: bodyOf<Change>(change) }),
    rotate: async (key, overlapMs) => {
      if (overlapMs !== undefined) checkOverlap(overlapMs);
      const body = overlapMs === undefined ? {} : { overlapMs };
      return api.call('POST /customers/{customer}/keys/{key}/rotate', { ...at(key), body });
    },
    cutOverlap: async (key) => api.call('POST /customers/{customer}/keys/{key}/cut', at(key)),
    revoke: async (key) => api.call('POST /customers/{customer}/keys/{key}/revoke', at(key)),
    disable: async (key) => api.call('POST /customers/{customer}/keys/{key}/disable', at(key)),
    enable: async (key) => api.call('POST /customers/{customer}/keys/{key}/enable', at(key)),
    whose: (text) => whoseOf(api, text),
  };
}

/** Keys of a text that are asked about at a time: as many as one question has room for. */
const KEYS_ASKED = 8;

/** Whose the first key is that is one here. What else the text holds concerns nobody. */
async function whoseOf(api: ApiClient, text: string): Promise<Whose> {
  const keys = [...new Set(apiKeysWithin(text))];
  let said: Whose = { wellFormed: false, matches: false, key: null };
  for (let from = 0; from < keys.length && !said.matches; from += KEYS_ASKED) {
    const some = keys.slice(from, from + KEYS_ASKED).join(' ');
    const next = await api.call('POST /keys/whose', { body: { text: some } });
    if (next.key !== null || said.key === null) said = next;
  }
  return said;
}

/** What a text says of itself, without asking anybody: null where only the store knows. */
export function whoseOffline(text: string): Whose | null {
  if (apiKeysWithin(text).length > 0) return null;
  return { wellFormed: false, matches: false, key: null };
}

/** @throws KeyRefusedError not-found, where a store would have to be made for keys that cannot be there. */
export function checkStoreExists({ store, dataDir }: Configuration): void {
  const file = databaseFile(dataDir);
  if (store.databaseUrl !== null || existsSync(file)) return;
  throw new KeyRefusedError(
    'not-found',
    `there is no database ${file}: give the --config or --data-dir that the service has, or make a key first`,
  );
}

const noDoors = () => ({ url: '', grpcUrl: null, hasShredStage: false, isDevelopment: false });

export type KeyOfficeOptions = Readonly<{
  configuration: Configuration;
  environment: Environment;
  /** Who acts, for the audit log. */
  who: string;
  /** Whose keys; absent: the house's. */
  customer: string | undefined;
  /** Makes the database when there is none; else that is refused. */
  makesStore: boolean;
}>;

/**
 * Opens the store, does `work` through the control API of this process and closes it again. A running service learns
 * of every change within a second.
 * @throws what control throws: ApiError, KeyRefusedError, PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function withKeyOffice<Result>(
  { configuration, environment, who, customer = HOUSE_CUSTOMER_ID, makesStore }: KeyOfficeOptions,
  work: (office: KeyOffice) => Promise<Result>,
): Promise<Result> {
  if (!makesStore) checkStoreExists(configuration);
  const store = await openStore(configuration);
  try {
    const peppers = await openPeppers(store, pepperSources(configuration, environment));
    await addMissingPlans(store, configuration.plans, `cli:${who}`);
    const log = createLogger('silent', () => undefined);
    const parts = {
      configuration,
      store,
      peppers,
      endpoints: [],
      source: null,
      mailer: null,
      log,
      reachedAt: noDoors,
    };
    const services = apiServicesOf(parts);
    const api = new ControlApi({ services, handlers: buildHandlers(services), log });
    return await work(officeOf({ call: (name, asked) => api.call(name, asked, who) }, customer));
  } finally {
    await store.close();
  }
}

export type RemoteOfficeOptions = Readonly<{
  /** Where the service is, without a path. */
  url: string;
  token: string;
  /** Absent: the customer of the token, or the house where it is the operator's. */
  customer: string | undefined;
}>;

/** The same on another machine, with a token. @throws ApiError, ApiUnreachableError */
export async function remoteKeyOffice({ url, token, customer }: RemoteOfficeOptions): Promise<KeyOffice> {
  const api = remoteApi({ url, token });
  if (customer !== undefined) return officeOf(api, customer);
  const { customers } = await api.call('GET /me', {});
  return officeOf(api, customers[0]?.id ?? HOUSE_CUSTOMER_ID);
}
