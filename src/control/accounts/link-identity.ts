import { randomUUID } from 'node:crypto';
import { ApiError, conflict, notFound } from '../api/api-error.ts';
import { deleteRows, findRow, insertRow } from '../database/rows.ts';
import { makeChange, writeAudit } from '../database/transaction.ts';
import type { OperatorContext } from './operators.ts';
import { isValidSubject } from './provider-tokens.ts';

type Identity = Readonly<{
  /** Id of the OpenID Connect provider. */
  provider: string;
  /** `sub` of its tokens. */
  subject: string;
}>;

/** Lets the tokens of a subject act for a user, although the subject never signed in: machines cannot. */
export async function linkIdentity(
  { store, actor, now }: OperatorContext,
  email: string,
  { provider, subject }: Identity,
): Promise<void> {
  if (!isValidSubject(subject))
    throw new ApiError(422, 'INVALID_FIELDS', 'invalid subject: use the "sub" of the tokens');
  await makeChange(store, async (trx, version) => {
    const user = await findRow(trx, 'auth_user', { email: email.toLowerCase() });
    if (user === undefined) throw notFound('No account has this email address. Invite it first.');
    const identity = { providerId: provider, accountId: subject };
    if ((await findRow(trx, 'auth_account', identity)) !== undefined)
      throw conflict('ALREADY_LINKED', 'The subject is linked to an account already. Unlink it first.');
    const at = now();
    const times = { createdAt: new Date(at).toISOString(), updatedAt: new Date(at).toISOString() };
    await insertRow(trx, 'auth_account', { ...identity, id: randomUUID(), userId: user.id, ...times });
    const detail = { user: user.email, provider, subject };
    await writeAudit(trx, version, { at, actor, action: 'user.way-in', detail });
  });
}

export function unlinkIdentity(
  { store, actor, now }: OperatorContext,
  { provider, subject }: Identity,
): Promise<void> {
  return makeChange(store, async (trx, version) => {
    const identity = { providerId: provider, accountId: subject };
    const account = await findRow(trx, 'auth_account', identity);
    if (account === undefined) throw notFound('The subject is not linked to an account.');
    await deleteRows(trx, 'auth_account', { id: account.id });
    const detail = { userId: account.userId, provider, subject };
    await writeAudit(trx, version, { at: now(), actor, action: 'user.way-in-delete', detail });
  });
}
