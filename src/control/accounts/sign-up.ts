import { randomUUID } from 'node:crypto';
import { isAPIError } from 'better-auth/api';
import { forbidden, invalidFields } from '../api/api-error.ts';
import { EMAIL_RULE, email as emailSchema, name as nameSchema } from '../api/contract/values.ts';
import { findRow, insertRow } from '../database/rows.ts';
import { makeChange, writeAudit } from '../database/transaction.ts';
import { findInvitationByToken, noSuchInvitation } from './invitations.ts';
import { passwordHashQueueFull, type SignInLibrary, type SignInParts } from './sign-in-library.ts';
import { NAME_RULE } from './sign-in-routes.ts';
import { currentRequest } from './sign-in-store.ts';

type Fields = Readonly<{ name: string; email: string; password: string; invitation: string | null }>;

function readFields(
  body: Readonly<Record<string, unknown>>,
  { passwordMin, passwordMax }: { passwordMin: number; passwordMax: number },
): Fields {
  const fields: Record<string, string> = {};
  const email = emailSchema.safeParse(body.email);
  const name = nameSchema.safeParse(body.name);
  const { password, invitation = null } = body;
  if (!email.success) fields.email = EMAIL_RULE;
  if (!name.success) fields.name = NAME_RULE;
  const isPassword =
    typeof password === 'string' && password.length >= passwordMin && password.length <= passwordMax;
  if (!isPassword) fields.password = `must have ${passwordMin} to ${passwordMax} characters`;
  if (invitation !== null && typeof invitation !== 'string')
    fields.invitation = 'must be the token of an invitation';
  if (email.success && name.success && isPassword && Object.keys(fields).length === 0)
    return { email: email.data, name: name.data, password, invitation: invitation as string | null };
  const messages = Object.entries(fields).map(([field, text]) => `${field}: ${text}`);
  throw invalidFields(messages.join('; '), fields);
}

/** Returns whether the invitation proves ownership of the address. */
async function checkInvited({ store, options, now }: SignInParts, { email, invitation }: Fields) {
  if (invitation === null) {
    if (options.signUp === 'open') return false;
    throw forbidden('NOT_INVITED', 'Accounts are created by invitation. Ask for one.');
  }
  const row = await findInvitationByToken(store.db, invitation, now());
  if (row === null) throw noSuchInvitation();
  if (row.email === '' || row.email === email) return row.email !== '';
  throw forbidden(
    'OTHER_ADDRESS',
    'This invitation is for a different email address. Sign up with that address.',
  );
}

/**
 * Creates a user and returns the credentials to sign in with. If the address already has an account, nothing is
 * created, and the following sign-in reveals only whether the password is right.
 */
export async function signUp(
  parts: SignInParts,
  library: SignInLibrary,
  body: Readonly<Record<string, unknown>>,
): Promise<Pick<Fields, 'email' | 'password'>> {
  const fields = readFields(body, parts.options.limits);
  const isProven = await checkInvited(parts, fields);
  const { password: hasher } = await library.$context;
  const hash = await hasher.hash(fields.password).catch((thrown: unknown) => {
    throw isAPIError(thrown) && thrown.statusCode === 503 ? passwordHashQueueFull() : thrown;
  });
  await makeChange(parts.store, async (trx, version) => {
    const { email, name } = fields;
    if ((await findRow(trx, 'auth_user', { email })) !== undefined) return;
    const id = randomUUID();
    const at = parts.now();
    const times = { createdAt: new Date(at).toISOString(), updatedAt: new Date(at).toISOString() };
    const verified = { emailVerified: isProven ? 1 : 0, isOperator: 0, twoFactorEnabled: 0 };
    await insertRow(trx, 'auth_user', { id, name, email, ...verified, ...times });
    const account = { id: randomUUID(), accountId: id, providerId: 'credential', userId: id, password: hash };
    await insertRow(trx, 'auth_account', { ...account, ...times });
    const entry = { at, actor: `user:${email}`, action: 'user.create', detail: {} };
    await writeAudit(trx, version, { ...entry, ...currentRequest.getStore() });
  });
  return fields;
}
