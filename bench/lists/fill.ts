import { chunk } from '../../src/base/chunk.ts';
import { DEFAULT_CUSTOMER_ID } from '../../src/control/accounts/roles.ts';
import type { Schema } from '../../src/control/database/schema.ts';
import { firstIdAt } from '../../src/control/requests/entry-ids.ts';
import type { Bulk } from './bulk.ts';
import { fillUsage } from './fill-usage.ts';
import { DAY_MS, DAYS } from './log-rows.ts';
import type { Population, Sizes } from './population.ts';
import { base58, below, hexOf, oneOf, randomFrom, skewed } from './random.ts';

const BATCH_ROWS = 5_000;
const YEARS_MS = 700 * DAY_MS;
const FAR_MS = 10_000 * DAY_MS;

export const planIds = ['default', 'growth', 'scale', 'enterprise'] as const;
export const auditActions = [
  ...['key.create', 'key.revoke', 'key.rotate', 'key.change', 'customer.change', 'member.role', 'sign-in'],
] as const;
export const operatorActor = 'user:operator@example.com';

const adjectives = ['Amber', 'Blue', 'Clear', 'Delta', 'Early', 'Fast', 'Grand', 'High', 'Iron', 'Jade'];
const nouns = ['Trading', 'Labs', 'Wallet', 'Games', 'Indexer', 'Capital', 'Studio', 'Bridge', 'Market'];
const purposes = ['production', 'staging', 'backend', 'trading bot', 'mobile app', 'indexer', 'CI', 'demo'];

/** Rows of a table by number, from 0. */
type Rows<Table extends keyof Schema> = (nth: number) => {
  readonly [Column in keyof Schema[Table]]?: string | number | null;
};

type Filling = Readonly<{ bulk: Bulk; population: Population; sizes: Sizes; now: number }>;

async function insertAll<Table extends keyof Schema & string>(
  { bulk }: Pick<Filling, 'bulk'>,
  table: Table,
  count: number,
  rowOf: Rows<Table>,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH_ROWS) {
    const rows = Array.from({ length: Math.min(BATCH_ROWS, count - from) }, (_, at) => rowOf(from + at));
    await bulk.insert(table, rows);
  }
}

export const emailOf = (user: number): string => `user-${user}@example.com`;
const userId = (user: number): string => hexOf(`user ${user}`, 24);

async function fillCustomers({ bulk, population, now }: Filling): Promise<void> {
  const random = randomFrom(4);
  const { customerIds } = population;
  for (const id of planIds)
    await bulk.run(
      `insert into plan (id, name, rpc_per_second, rpc_burst, version) values ('${id}', '${id}', 1000, 2000, 0)
        on conflict do nothing`,
    );
  await insertAll({ bulk }, 'plan_price', planIds.length, (nth) => ({
    ...{ plan_id: planIds[nth]!, since: 0, currency: 'usd', monthly_price: nth * 9_900 },
    ...{ included_credits: nth * 1_000_000, price_per_million: 500 },
  }));
  await insertAll({ bulk }, 'customer', customerIds.length - 1, (nth) => ({
    id: customerIds[nth + 1]!,
    name: `${oneOf(random, adjectives)} ${oneOf(random, nouns)} ${nth + 1}`,
    plan_id: planIds[skewed(random, planIds.length)]!,
    state: random() < 0.02 ? 'suspended' : 'active',
    created_at: now - below(random, YEARS_MS),
    version: nth + 1,
  }));
}

/** Members of the built-in customer. */
const TEAM = 200;

async function fillMembers({ bulk, population, now }: Filling): Promise<void> {
  const { customerIds } = population;
  const users = TEAM + customerIds.length;
  const time = new Date(now).toISOString();
  await insertAll({ bulk }, 'auth_user', users, (user) => ({
    ...{ id: userId(user), name: `User ${user}`, email: emailOf(user), emailVerified: 1, image: null },
    ...{ twoFactorEnabled: user % 2, isOperator: 0, createdAt: time, updatedAt: time },
  }));
  await insertAll({ bulk }, 'member', users, (user) => ({
    customer_id: customerIds[Math.max(0, user - TEAM)]!,
    user_id: userId(user),
    role: user < TEAM ? 'developer' : 'owner',
    created_at: now - user,
  }));
  const random = randomFrom(5);
  await insertAll({ bulk }, 'usage_link', customerIds.length >> 1, (nth) => ({
    id: hexOf(`link ${nth}`, 16),
    customer_id: customerIds[skewed(random, customerIds.length)]!,
    ...{ name: `Link ${nth}`, token_digest: hexOf(`token ${nth}`, 64), created_by: operatorActor },
    ...{ created_at: now - nth, expires_at: now + FAR_MS },
  }));
}

async function fillKeys({ bulk, population, sizes, now }: Filling): Promise<void> {
  const random = randomFrom(6);
  let version = population.customerIds.length;
  for (const [customer, ids] of population.keyIds.entries())
    for (const some of chunk(ids, BATCH_ROWS))
      await insertAll({ bulk }, 'api_key', some.length, (nth) => {
        const id = some[nth]!;
        const draw = random();
        return {
          ...{ id, family_id: id, product: random() < 0.1 ? 'grpc' : 'rpc', digest: hexOf(id, 64) },
          ...{ pepper_version: 1, plan_id: planIds[skewed(random, planIds.length)]!, replaced_by: null },
          name: `${oneOf(random, purposes)} ${below(random, sizes.keys)}`,
          state: draw < 0.8 ? 'active' : draw < 0.85 ? 'disabled' : draw < 0.87 ? 'rotating' : 'revoked',
          created_at: now - below(random, YEARS_MS),
          expires_at: random() < 0.1 ? now + FAR_MS - below(random, FAR_MS) : null,
          last_used_at: random() < 0.4 ? now - below(random, DAYS * DAY_MS) : null,
          ...{ last_used_from: null, customer_id: population.customerIds[customer]!, is_public: 0 },
          ...{ networks: '', cidrs: '', origins: '', methods: '', rate_per_second: null, rate_burst: null },
          ...{ address_per_second: null, logs_bodies: 0, never_back: 0, leaked_at: null },
          version: ++version,
        };
      });
}

async function fillAudit({ bulk, population, sizes, now }: Filling): Promise<void> {
  const random = randomFrom(7);
  const { customerIds, keyIds } = population;
  const rows = sizes.keys * 5;
  await insertAll({ bulk }, 'audit', rows, (nth) => {
    const customer = random() < 0.3 ? 0 : skewed(random, customerIds.length);
    const keys = keyIds[customer]!;
    const actor = random() < 0.2 ? operatorActor : `user:${emailOf(below(random, customerIds.length))}`;
    return {
      id: nth + 1,
      at: Math.floor(now - YEARS_MS + (nth * YEARS_MS) / rows),
      ...{ actor, action: auditActions[skewed(random, auditActions.length)]! },
      key_id: keys.length === 0 ? null : oneOf(random, keys),
      ...{ detail: '{"name":"backend"}', customer_id: customerIds[customer]! },
      ...{ address: '192.0.2.7', user_agent: 'Mozilla/5.0 (X11; Linux x86_64)', request_id: null },
    };
  });
  await bulk.run(`update change_counter set version = ${Math.max(rows, sizes.keys + customerIds.length)}`);
}

async function fillTransactions({ bulk, population, sizes, now }: Filling): Promise<void> {
  const random = randomFrom(8);
  const { customerIds, keyIds } = population;
  const rows = Math.ceil(sizes.logRows / 20);
  const attempts = JSON.stringify([{ node: 'node-1', at: now, ms: 12.5, outcome: 'ok' }]);
  await insertAll({ bulk }, 'submission', rows, (nth) => {
    const customer = random() < 0.2 ? 0 : skewed(random, customerIds.length);
    const at = Math.floor(now - DAYS * DAY_MS + (nth * DAYS * DAY_MS) / rows);
    return {
      ...{ id: `${firstIdAt(at)}${nth.toString(16).padStart(8, '0')}0badcafe`, at },
      ...{ signature: base58(random, 87), customer_id: customerIds[customer]! },
      ...{ key_id: keyIds[customer]![0] ?? 'none', network: 'mainnet-beta', outcome: 'accepted' },
      ...{ message: null, attempts, rebroadcasts: 2, again: null },
      ...{ fate: 'confirmed', fate_slot: '301000000', fate_err: null },
    };
  });
}

async function fillOperations({ bulk, population, sizes, now }: Filling): Promise<void> {
  const random = randomFrom(9);
  const { customerIds } = population;
  await insertAll({ bulk }, 'alert', 5_000, (nth) => ({
    ...{ id: hexOf(`alert ${nth}`, 16), open_key: null, code: 'node_unhealthy', severity: 'warning' },
    ...{ network: 'mainnet-beta', node: 'node-1', customer_id: null, customer_name: null },
    ...{ text: 'Node node-1 is unhealthy', page: '/upstreams', since: now - nth * 100_000 },
    ...{ raised_at: now - nth * 100_000, notified_at: now, resolved_at: now },
  }));
  const history = (step: 'minute' | 'hour', stepMs: number, count: number) =>
    insertAll({ bulk }, 'node_history', count * 9, (nth) => ({
      ...{ step, bucket: Math.floor(now / stepMs) - Math.floor(nth / 9) },
      ...{
        gateway: `gateway-${nth % 3}`,
        network: 'mainnet-beta',
        node: `node-${1 + (Math.floor(nth / 3) % 3)}`,
      },
      ...{ samples: 60, ready: 59, lag_max: 3, responses: 900, failures: 9, throttled: 1 },
      ...{ latency: '20:500,24:300,30:100', version: '4.2.1' },
    }));
  await history('minute', 60_000, 8 * 1_440);
  await history('hour', 3_600_000, 90 * 24);
  await insertAll({ bulk }, 'unknown_method', Math.min(200_000, sizes.keys), (nth) => ({
    hour: Math.floor(now / 3_600_000) - ((Math.floor(nth / 1_000) * 7) % (DAYS * 24)),
    customer_id: customerIds[skewed(random, customerIds.length)]!,
    ...{ method: `getThing${nth % 1_000}`, gateway: 'gateway-0', calls: 1 + below(random, 50), last_at: now },
  }));
}

/** Leases of background work, which would be measured too. */
const leases = [
  ...['roll-up', 'upkeep', 'clickhouse roll-up', 'clickhouse upkeep', 'audit-copy', 'log-retention'],
  ...['billing statements', 'stripe', 'stripe totals'],
];

/** Fills all tables but those of the request log. @param clickHouse - whether ClickHouse has the details of usage. */
export async function fill(filling: Filling, clickHouse: boolean): Promise<void> {
  const { bulk, now } = filling;
  const createIndexes = await bulk.dropIndexes(['audit', 'submission', 'unknown_method']);
  await fillCustomers(filling);
  await fillMembers(filling);
  await fillKeys(filling);
  await fillAudit(filling);
  await fillTransactions(filling);
  await fillOperations(filling);
  await createIndexes();
  await fillUsage(filling, clickHouse);
  await insertAll({ bulk }, 'usage_claim', leases.length, (nth) => ({
    ...{ name: leases[nth]!, holder: DEFAULT_CUSTOMER_ID, until: now + FAR_MS },
  }));
}
