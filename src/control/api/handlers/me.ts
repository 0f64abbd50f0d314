import { type ApiCaller, defineHandlers } from '../handler.ts';
import type { ApiServices } from '../services.ts';
import { customerJson } from './customers.ts';

async function userOf({ store }: ApiServices, caller: ApiCaller) {
  if (caller.kind !== 'user') return null;
  const row = await store.db
    .selectFrom('auth_user')
    .select(['name', 'email', 'isOperator', 'twoFactorEnabled'])
    .where('id', '=', caller.userId)
    .executeTakeFirst();
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
  const query = store.db.selectFrom('customer').selectAll().where('id', '=', caller.customerId);
  return (await query.execute()).map((row) => ({ ...customerJson(row), role: caller.role }));
}

/** Whether no operator exists yet. */
async function needsSetup({ store }: ApiServices): Promise<boolean> {
  const query = store.db.selectFrom('auth_user').select('id').where('isOperator', '=', 1).limit(1);
  return (await query.executeTakeFirst()) === undefined;
}

export const meHandlers = (services: ApiServices) =>
  defineHandlers({
    'GET /me': async (_given, { caller }) => {
      const { service } = services;
      const [user, customers, isNew] = await Promise.all([
        userOf(services, caller),
        customersOf(services, caller),
        needsSetup(services),
      ]);
      return {
        user,
        customers,
        service: {
          version: service.version,
          signUp: service.signUp,
          needsSetup: isNew,
          oidc: [...service.oidc],
          network: service.network,
          urls: service.urls(),
          hasShredStage: service.hasShredStage(),
          mode: service.mode(),
          plans: [...service.plans],
          mail: services.mailer !== null,
        },
      };
    },
  });
