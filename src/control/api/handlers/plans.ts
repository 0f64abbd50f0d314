import { type SqlBool, sql } from 'kysely';
import { customerSubject } from '../../billing/customer-plan.ts';
import { readPrices } from '../../billing/plan-price.ts';
import { fieldsOf, selectRows } from '../../database/rows.ts';
import type { CustomerTable } from '../../database/tables/accounts.ts';
import type { PlanUndoTable } from '../../database/tables/billing.ts';
import { planLimitsOf, planSubject } from '../../plans.ts';
import { creditsOfCustomers } from '../../usage/quotas.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import type { PlanJson } from '../contract/plans.ts';
import { contains, type SortKeys, selectPage } from '../cursor.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { customerJson } from './customers.ts';

/** States of rows that do not count. */
const endStates = { customer: 'deleted', api_key: 'revoked', member: null } as const;

/** Counts the rows of each value of a column. @param values - absent: all. */
async function countBy(
  { store }: ApiServices,
  table: keyof typeof endStates,
  column: 'plan_id' | 'customer_id',
  values?: readonly string[],
): Promise<Map<string, number>> {
  if (values?.length === 0) return new Map();
  const endState = endStates[table];
  const conditions = [
    ...(endState === null ? [] : [sql<SqlBool>`state != ${endState}`]),
    ...(values === undefined ? [] : [sql<SqlBool>`${sql.ref(column)} in (${sql.join(values)})`]),
  ];
  const { rows } = await sql<{ value: string; count: number }>`
    select ${sql.ref(column)} as value, count(*) as count from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)} group by ${sql.ref(column)}`.execute(store.db);
  return new Map(rows.map(({ value, count }) => [value, Number(count)]));
}

const undoRows = async (db: ApiServices['store']['db'], subjects: readonly string[]) =>
  subjects.length === 0 ? [] : selectRows(db, 'plan_undo', {}).where('subject', 'in', subjects).execute();

export async function listPlans(services: ApiServices): Promise<PlanJson[]> {
  const { db } = services.store;
  const inFile = new Set(services.service().plans.map(({ id }) => id));
  const rows = await selectRows(db, 'plan', {}).orderBy('id').execute();
  const [prices, undos, customers, keys] = await Promise.all([
    readPrices(db, services.now()),
    undoRows(
      db,
      rows.map(({ id }) => planSubject(id)),
    ),
    countBy(services, 'customer', 'plan_id'),
    countBy(services, 'api_key', 'plan_id'),
  ]);
  return rows.map((row) => ({
    ...fieldsOf(row, 'id', 'name', 'archived_at'),
    source: inFile.has(row.id) ? 'file' : 'stored',
    limits: planLimitsOf(row) as PlanJson['limits'],
    price: prices.get(row.id) ?? null,
    customers: customers.get(row.id) ?? 0,
    keys: keys.get(row.id) ?? 0,
    undoAt: undos.find(({ subject }) => subject === planSubject(row.id))?.at ?? null,
  }));
}

const sortKeys = {
  name: { type: 'string', value: sql<string>`lower(name)` },
  createdAt: { type: 'number', value: sql<number>`created_at` },
} as const satisfies SortKeys<string>;

type CustomersQuery = ParsedRouteInput<'GET /customers'>['query'];

async function pageOfCustomers(services: ApiServices, { search = '', state, plan, ...page }: CustomersQuery) {
  const { db } = services.store;
  const text = search.trim();
  const query = selectRows(db, 'customer', { state, plan_id: plan })
    .where('state', '!=', 'deleted')
    .$if(text !== '', (some) =>
      some.where((build) =>
        build.or([
          contains(sql.ref('name'), text),
          build('id', '=', text),
          build('id', 'in', db.selectFrom('api_key').select('customer_id').where('id', '=', text)),
          build(
            'id',
            'in',
            db
              .selectFrom('auth_user')
              .innerJoin('member', 'member.user_id', 'auth_user.id')
              .select('member.customer_id')
              .where('email', '=', text.toLowerCase()),
          ),
        ]),
      ),
    );
  const { rows, next } = await selectPage(query as never, page, sortKeys);
  return { rows: rows as CustomerTable[], next };
}

const undoOf = (row: PlanUndoTable | undefined) =>
  row === undefined ? null : { planId: (JSON.parse(row.state) as { planId: string }).planId, at: row.at };

export const planHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /plans': async () => ({ plans: await listPlans(services) }),
    'GET /customers': async ({ query }) => {
      const { rows, next } = await pageOfCustomers(services, query);
      const ids = rows.map(({ id }) => id);
      const [members, keys, credits] = await Promise.all([
        countBy(services, 'member', 'customer_id', ids),
        countBy(services, 'api_key', 'customer_id', ids),
        creditsOfCustomers(services.store, ids, services.now()),
      ]);
      const undos = await undoRows(services.store.db, ids.map(customerSubject));
      const items = rows.map((row) => ({
        ...customerJson(row),
        members: members.get(row.id) ?? 0,
        keys: keys.get(row.id) ?? 0,
        creditsUsed: credits.get(row.id) ?? 0,
        planUndo: undoOf(undos.find(({ subject }) => subject === customerSubject(row.id))),
      }));
      return { items, next };
    },
  });
