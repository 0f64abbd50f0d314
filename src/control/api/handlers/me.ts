import { findRow, selectRows } from '../../database/rows.ts';
import { type ApiCaller, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { customerJson } from './customers.ts';

async function userOf({ store }: ApiServices, caller: ApiCaller) {
  if (caller.kind !== 'user') return null;
  const row = await findRow(store.db, 'auth_user', { id: caller.userId });
  if (row === undefined) return null;
  const { name, email, isOperator, twoFactorEnabled } = row;
  return { id: caller.userId, name, email, isOperator: isOperator === 1, twoFactor: twoFactorEnabled === 1 };
}

async function customersOf({ store }: ApiServices, caller: ApiCaller) {
  if (caller.kind === 'user') {
    const rows = await store.db
      .selectFrom('member')
      .innerJoin('customer', 'customer.id', 'member.customer_id')
      .selectAll('customer')
      .select('member.role')
      .where('member.user_id', '=', caller.userId)
      .orderBy('customer.created_at')
      .orderBy('customer.id')
      .execute();
    return rows.map((row) => ({ ...customerJson(row), role: row.role }));
  }
  if (caller.kind !== 'token' || caller.customerId === null) return [];
  const rows = await selectRows(store.db, 'customer', { id: caller.customerId }).execute();
  return rows.map((row) => ({ ...customerJson(row), role: caller.role }));
}

/**
 * Operators see all plans; others see configured plans and their own. Archived plans are listed only if in use by the
 * caller.
 */
async function plansOf(
  { store, service }: ApiServices,
  isOperator: boolean,
  customers: readonly Readonly<{ planId: string }>[],
) {
  const rows = await selectRows(store.db, 'plan', {}).orderBy('id').execute();
  const inFile = new Set(service().plans.map(({ id }) => id));
  const own = new Set(customers.map(({ planId }) => planId));
  return rows
    .filter(({ id, archived_at }) => own.has(id) || (archived_at === null && (isOperator || inFile.has(id))))
    .map(({ id, name }) => ({ id, name }));
}

export const meHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /me': async (_given, { caller, role }) => {
      const [user, customers, operator] = await Promise.all([
        userOf(services, caller),
        customersOf(services, caller),
        findRow(services.store.db, 'auth_user', { isOperator: 1 }),
      ]);
      return {
        user,
        customers,
        service: {
          ...services.service(),
          plans: await plansOf(services, role === 'operator', customers),
          needsSetup: operator === undefined,
          mail: services.mailer !== null,
        },
      };
    },
  });
