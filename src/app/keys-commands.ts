import { existsSync } from 'node:fs';
import { keyIdIn } from '../access/api-key.ts';
import type { KeyRegister } from '../control/keys/key-register.ts';
import { KeyRefusedError } from '../control/keys/key-register.ts';
import { cutOverlap, disableKey, enableKey, revokeKey } from '../control/keys/key-state.ts';
import type { KeyView } from '../control/keys/key-view.ts';
import { createKey, type NewKey } from '../control/keys/keys.ts';
import { listKeys } from '../control/keys/list-keys.ts';
import { rotateKey } from '../control/keys/rotate-key.ts';
import { openPeppers } from '../control/pepper-proof.ts';
import { addMissingPlans } from '../control/plans.ts';
import { type Product, products } from '../protocol/product.ts';
import type { Configuration } from './configuration.ts';
import type { Environment } from './configuration-secrets.ts';
import { databaseFile } from './data-dir.ts';
import { openStore, pepperSources } from './store.ts';

/** The operations on keys, as a person at the command line has them. Times are Unix milliseconds. */
export type KeyOffice = Readonly<{
  create(options: {
    product: string;
    name: string;
    plan?: string | undefined;
    expiresAt?: number | null;
  }): Promise<NewKey>;
  list(options: { product?: string | undefined; withRevoked: boolean }): Promise<KeyView[]>;
  rotate(key: string, overlapMs: number): Promise<NewKey & { old: KeyView }>;
  cutOverlap(key: string): Promise<KeyView>;
  revoke(key: string): Promise<KeyView>;
  disable(key: string): Promise<KeyView>;
  enable(key: string): Promise<KeyView>;
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

async function listAll(
  register: KeyRegister,
  options: { product?: Product | undefined; withRevoked: boolean },
): Promise<KeyView[]> {
  const all: KeyView[] = [];
  for (;;) {
    const after = all.at(-1)?.id;
    const page = await listKeys(register, after === undefined ? options : { ...options, after });
    all.push(...page);
    if (page.length === 0) return all;
  }
}

function officeOf(register: KeyRegister): KeyOffice {
  return {
    create: async ({ product, plan, ...rest }) =>
      createKey(register, { ...rest, product: productOf(product), planId: plan }),
    list: async ({ product, withRevoked }) =>
      listAll(register, { product: product === undefined ? undefined : productOf(product), withRevoked }),
    rotate: async (key, overlapMs) => rotateKey(register, keyIdOf(key), overlapMs),
    cutOverlap: async (key) => cutOverlap(register, keyIdOf(key)),
    revoke: async (key) => revokeKey(register, keyIdOf(key)),
    disable: async (key) => disableKey(register, keyIdOf(key)),
    enable: async (key) => enableKey(register, keyIdOf(key)),
  };
}

/** @throws KeyRefusedError not-found, where a store would have to be made for keys that cannot be there. */
function checkStoreExists({ store, dataDir }: Configuration): void {
  const file = databaseFile(dataDir);
  if (store.databaseUrl !== null || existsSync(file)) return;
  throw new KeyRefusedError(
    'not-found',
    `there is no database ${file}: give the --config or --data-dir that the service has, or make a key first`,
  );
}

/**
 * Opens the store, does `work` and closes it again. A running service learns of every change within a second.
 * @param actor - who acts, for the audit log.
 * @param makesStore - makes the database when there is none; else that is refused.
 * @throws what control throws: KeyRefusedError, PepperError, SchemaTooNewError, or the driver's own error.
 */
export async function withKeyOffice<Result>(
  configuration: Configuration,
  environment: Environment,
  actor: string,
  makesStore: boolean,
  work: (office: KeyOffice) => Promise<Result>,
): Promise<Result> {
  if (!makesStore) checkStoreExists(configuration);
  const store = await openStore(configuration);
  try {
    const peppers = await openPeppers(store, pepperSources(configuration, environment));
    await addMissingPlans(store, configuration.plans, actor);
    const { keysMax } = configuration.keys;
    return await work(officeOf({ store, peppers, actor, keysMax, now: Date.now }));
  } finally {
    await store.close();
  }
}
