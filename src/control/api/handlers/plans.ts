import { sql } from 'kysely';
import { planLimitsOf } from '../../plans.ts';
import { creditsUsed } from '../../usage/quotas.ts';
import { decodeCursor, pageOfRows } from '../cursor.ts';
import { defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { customerJson } from './customers.ts';

async function countBy({ store }: ApiServices, table: 'customer' | 'api_key'): Promise<Map<string, number>> {
  const rows = await store.db
    .selectFrom(table)
    .select(['plan_id', (eb) => eb.fn.countAll<number>().as('count')])
    .$if(table === 'api_key', (query) => query.where(sql.ref('state'), '!=', 'revoked'))
    .groupBy('plan_id')
    .execute();
  return new Map(rows.map((row) => [row.plan_id, Number(row.count)]));
}

async function plans(services: ApiServices) {
  const [rows, customers, keys] = await Promise.all([
    services.store.db.selectFrom('plan').selectAll().orderBy('id').execute(),
    countBy(services, 'customer'),
    countBy(services, 'api_key'),
  ]);
  return {
    plans: rows.map((row) => ({
      id: row.id,
      name: row.name,
      limits: planLimitsOf(row),
      customers: customers.get(row.id) ?? 0,
      keys: keys.get(row.id) ?? 0,
    })),
  };
}

function rowsOf({ store }: ApiServices) {
  return store.db
    .selectFrom('customer')
    .selectAll()
    .select((eb) => [
      eb
        .selectFrom('member')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('customer_id', '=', 'customer.id')
        .as('members'),
      eb
        .selectFrom('api_key')
        .select((inner) => inner.fn.countAll<number>().as('count'))
        .whereRef('customer_id', '=', 'customer.id')
        .where('state', '!=', 'revoked')
        .as('keys'),
    ]);
}

const containing = (text: string): string => `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;

export const planHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /plans': () => plans(services),
    'GET /customers': async ({ query }) => {
      const { search, cursor, limit } = query;
      const after = decodeCursor(cursor, 'string');
      const rows = await rowsOf(services)
        .$if(search !== undefined, (select) =>
          select.where(sql<boolean>`lower(customer.name) like ${containing(search ?? '')} escape '\\'`),
        )
        .$if(after !== null, (select) => select.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit + 1)
        .execute();
      const credits = new Map<string, number>();
      for (const { id } of rows.slice(0, limit))
        credits.set(id, await creditsUsed(services.store, { customerId: id }, services.now()));
      return pageOfRows(rows, limit, (row) => ({
        ...customerJson(row),
        members: Number(row.members),
        keys: Number(row.keys),
        creditsUsed: credits.get(row.id) ?? 0,
      }));
    },
  });
