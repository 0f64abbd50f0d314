import type { Transaction } from 'kysely';
import { digestApiKey, generateApiKey } from '../../gateway/auth/api-key.ts';
import { type Product, products } from '../../protocol/product.ts';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import { notFound } from '../api/api-error.ts';
import { findRow, insertRow } from '../database/rows.ts';
import type { KeyTable, PlanTable, Schema } from '../database/schema.ts';
import type { CustomerTable } from '../database/tables/accounts.ts';
import { nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';
import { assertKeyQuota } from './key-quota.ts';
import { auditEntry, type KeyRegister, type KeyView, rejectField, viewKey } from './key-register.ts';
import { checkRules, detailOfRules, type KeyInput, noRules, type RuleColumns } from './rule-columns.ts';

const ID_ATTEMPTS = 4;

/** A new key and its secret, which is not stored. */
export type NewKey = Readonly<{ secret: string; key: KeyView }>;

/** Validated by the contract. Defaults: the customer's plan, no expiry and no rules. */
export type CreateKeyOptions = Pick<KeyInput, 'product' | 'name'> & {
  readonly [Field in keyof KeyInput]?: KeyInput[Field] | undefined;
};

export function checkExpiry(expiresAt: number | null, now: number): number | null {
  if (expiresAt === null || expiresAt > now) return expiresAt;
  return rejectField('expiresAt', 'The expiry must be in the future');
}

export async function requirePlan(trx: Transaction<Schema>, planId: string): Promise<PlanTable> {
  const plans = await trx.selectFrom('plan').selectAll().orderBy('id').execute();
  const plan = plans.find(({ id }) => id === planId);
  if (plan !== undefined) return plan;
  const knownIds = plans.map(({ id }) => id).join(', ');
  return rejectField(
    'planId',
    `There is no plan "${planId}". Use one of ${knownIds}, or add it to the configuration.`,
  );
}

async function requireCustomer(trx: Transaction<Schema>, id: string): Promise<CustomerTable> {
  const row = await findRow(trx, 'customer', { id });
  if (row !== undefined) return row;
  throw notFound(`There is no customer "${id.slice(0, 64)}". See the list of customers.`);
}

/** The caller has locked the change counter, so no other gateway can take the id before it is inserted. */
async function generateUnused(trx: Transaction<Schema>, product: Product) {
  for (let attempt = 0; attempt < ID_ATTEMPTS; attempt++) {
    const generated = generateApiKey(product);
    if ((await findRow(trx, 'api_key', { id: generated.id })) === undefined) return generated;
  }
  throw new Error('no unused key id was found');
}

/** `family_id` is null for a new family. */
type NewRow = Pick<KeyTable, 'product' | 'name' | 'plan_id' | 'expires_at' | 'customer_id' | 'is_public'> &
  RuleColumns & { family_id: string | null };

/** `input` may be another key's row: all columns outside `NewRow` are overwritten. */
export async function insertKey(
  register: KeyRegister,
  trx: Transaction<Schema>,
  version: number,
  input: NewRow,
): Promise<NewKey & { row: KeyTable }> {
  const { id, text } = await generateUnused(trx, input.product);
  const { current, secrets } = register.peppers;
  const row: KeyTable = {
    ...input,
    id,
    family_id: input.family_id ?? id,
    digest: digestApiKey(text, secrets.get(current)!).toString('hex'),
    pepper_version: current,
    state: 'active',
    created_at: register.now(),
    replaced_by: null,
    last_used_at: null,
    last_used_from: null,
    leaked_at: null,
    version,
  };
  await insertRow(trx, 'api_key', row);
  return { secret: text, key: viewKey(row, register.now()), row };
}

const detailOf = (row: KeyTable) => ({
  product: row.product,
  name: row.name,
  plan: row.plan_id,
  expiresAt: row.expires_at,
  isPublic: row.is_public !== 0,
  ...detailOfRules(row),
});

function checkPublic({ isPublic = false, product }: CreateKeyOptions): boolean {
  if (!isPublic || product === 'rpc') return isPublic;
  return rejectField(
    'isPublic',
    `isPublic: ${products[product].keyName}s cannot be public, because web pages cannot use them. Create a public RPC key.`,
  );
}

async function createKeyIn(
  register: KeyRegister,
  trx: Transaction<Schema>,
  options: CreateKeyOptions,
): Promise<NewKey> {
  const version = await nextVersion(trx);
  const isPublic = checkPublic(options);
  const expiresAt = checkExpiry(options.expiresAt ?? null, register.now());
  const customer = await requireCustomer(trx, register.customerId ?? DEFAULT_CUSTOMER_ID);
  const plan = await requirePlan(trx, options.planId ?? customer.plan_id);
  if (plan.archived_at !== null && plan.id !== customer.plan_id)
    rejectField('planId', `The plan "${plan.id}" is archived. Choose another.`);
  const { product, name } = options;
  const use = checkRules({ ...noRules, ...omitUndefined(options) }, { product, isPublic, plan });
  await assertKeyQuota(trx, register, customer.id, version);
  const { row, ...created } = await insertKey(register, trx, version, {
    ...use,
    product,
    name,
    plan_id: plan.id,
    expires_at: expiresAt,
    customer_id: customer.id,
    is_public: isPublic ? 1 : 0,
    family_id: null,
  });
  await writeAudit(trx, version, auditEntry(register, 'key.create', row, detailOf(row)));
  return created;
}

export const omitUndefined = <Fields extends object>(fields: Fields): Present<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;

type Present<Fields> = { [Field in keyof Fields]: Exclude<Fields[Field], undefined> };

/** Creates a key in a new family. @throws ApiError */
export const createKey = (register: KeyRegister, options: CreateKeyOptions): Promise<NewKey> =>
  transactAndNotify(register.store, (trx) => createKeyIn(register, trx, options));

/** Creates one key per product if the store has no keys. May be called by several processes at once. */
export function createFirstKeys(register: KeyRegister): Promise<NewKey[]> {
  return transactAndNotify(register.store, async (trx) => {
    await nextVersion(trx);
    if ((await findRow(trx, 'api_key', {})) !== undefined) return [];
    const created: NewKey[] = [];
    for (const product of Object.keys(products) as Product[]) {
      const name = `Default ${products[product].keyName}`;
      created.push(await createKeyIn(register, trx, { product, name }));
    }
    return created;
  });
}
