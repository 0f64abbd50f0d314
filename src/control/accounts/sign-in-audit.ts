import type { AuditEntry } from '../database/transaction.ts';
import { noRequestMetadata, type RequestMetadata } from './request-metadata.ts';

/** What the sign-in library writes to the store. */
export type SignInWrite = Readonly<{
  table: string;
  operation: 'create' | 'update' | 'delete';
  /** The rows as they are after it; those that were deleted. */
  rows: readonly Readonly<Record<string, unknown>>[];
  /** Names of the columns that an update sets. */
  columns: readonly string[];
}>;

/** The name of a write in the audit log; null for what is no change that anybody made. */
export function actionOf({ table, operation, columns, rows }: SignInWrite): string | null {
  if (rows.length === 0) return null;
  if (table === 'auth_session') {
    const actions = { create: 'session.create', update: null, delete: 'session.delete' };
    return actions[operation];
  }
  if (table === 'auth_account') {
    if (operation === 'update') return columns.includes('password') ? 'user.password' : null;
    return operation === 'create' ? 'user.way-in' : 'user.way-in-delete';
  }
  if (table === 'auth_two_factor') {
    if (operation === 'update') return columns.includes('verified') ? 'user.two-factor-change' : null;
    return operation === 'create' ? 'user.two-factor-begin' : 'user.two-factor-end';
  }
  return table === 'auth_user' ? `user.${operation}` : null;
}

/** Whose rows they are. */
export function userIdOf({ table, rows }: SignInWrite): string | null {
  const id = rows[0]?.[table === 'auth_user' ? 'id' : 'userId'];
  return typeof id === 'string' ? id : null;
}

/** The audit line of a write by a user themselves. */
export function signInEntry(
  write: SignInWrite,
  action: string,
  email: string | null,
  at: number,
  metadata: RequestMetadata = noRequestMetadata,
): AuditEntry {
  const isOwnRow = write.table === 'auth_user' && write.operation === 'update';
  const columns = isOwnRow ? { fields: fieldsOf(write.columns) } : {};
  const provider = write.rows[0]?.providerId;
  const detail = {
    ...columns,
    ...(write.rows.length > 1 && { count: write.rows.length }),
    ...(typeof provider === 'string' && { provider }),
  };
  return { at, actor: email === null ? 'nobody' : `user:${email}`, action, keyId: null, detail, ...metadata };
}

const fieldsOf = (columns: readonly string[]): string =>
  columns.filter((name) => name !== 'updatedAt').join(',');
