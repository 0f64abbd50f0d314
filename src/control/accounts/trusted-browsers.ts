import type { Kysely } from 'kysely';
import type { Schema } from '../database/schema.ts';
import { actionOf, type SignInWrite, userIdOf } from './sign-in-audit.ts';

/** Changes after which a browser must prove anew that it is its user's. */
const revokingActions: ReadonlySet<string | null> = new Set([
  ...['user.password', 'user.way-in', 'user.way-in-delete'],
  ...['user.two-factor-begin', 'user.two-factor-change', 'user.two-factor-end'],
]);

/**
 * Ends what spares browsers of a user the second factor; the library ends that of the browser alone that disables the
 * factor. Sign-ins that wait for their code, and links for a new password, end along.
 */
export async function revokeTrustedBrowsers(db: Kysely<Schema>, userId: string): Promise<void> {
  await db.deleteFrom('auth_verification').where('value', '=', userId).execute();
}

/** Ends it where a write changes the factor, the password or another way in. */
export async function revokeTrustedBrowsersAfter(db: Kysely<Schema>, write: SignInWrite): Promise<void> {
  const userId = userIdOf(write);
  if (userId !== null && revokingActions.has(actionOf(write))) await revokeTrustedBrowsers(db, userId);
}
