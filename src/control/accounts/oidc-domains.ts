import { insertRow, selectRows } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import { makeChange, writeAudit } from '../database/transaction.ts';
import type { OidcProvider } from './account-options.ts';
import { DEFAULT_CUSTOMER_ID } from './roles.ts';
import { currentRequest } from './sign-in-store.ts';

export type NewUser = Readonly<{ id: string; email: string; emailVerified: boolean }>;

/** Finds the provider of a callback, if it admits the address without an invitation. */
export function findAdmittingProvider(
  providers: readonly OidcProvider[],
  providerId: unknown,
  { email, emailVerified }: Omit<NewUser, 'id'>,
): OidcProvider | null {
  if (!emailVerified) return null;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return providers.find(({ id, domains }) => id === providerId && domains.includes(domain)) ?? null;
}

/** Makes a new user a viewer of the operator's customer. */
export function joinOperator(
  store: Store,
  { id: userId, email }: NewUser,
  { id: provider }: OidcProvider,
  { membersMax, now }: Readonly<{ membersMax: number; now: number }>,
): Promise<void> {
  const customerId = DEFAULT_CUSTOMER_ID;
  return makeChange(store, async (trx, version) => {
    const role = 'viewer';
    const members = await selectRows(trx, 'member', { customer_id: customerId }).execute();
    if (members.length >= membersMax) return;
    await insertRow(trx, 'member', { customer_id: customerId, user_id: userId, role, created_at: now });
    const entry = { at: now, actor: `user:${email}`, action: 'member.join', customerId };
    await writeAudit(trx, version, { ...entry, detail: { provider, role }, ...currentRequest.getStore() });
  });
}
