import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { CustomerState, MemberRole } from '../../accounts/roles.ts';

/** Who may sign in, for whom, and what they may do. Times are Unix milliseconds unless said otherwise. */
export interface AccountTables {
  customer: CustomerTable;
  member: MemberTable;
  invitation: InvitationTable;
  admin_token: AdminTokenTable;
  auth_user: AuthUserTable;
  auth_session: AuthSessionTable;
  auth_account: AuthAccountTable;
  auth_verification: AuthVerificationTable;
  auth_two_factor: AuthTwoFactorTable;
  auth_tried_code: AuthTriedCodeTable;
}

/** Whoever keys belong to. The operator's own is HOUSE_CUSTOMER_ID and always there. */
export interface CustomerTable {
  id: string;
  name: string;
  /** What its keys share: quota, and the limits of keys that are made without naming a plan. */
  plan_id: string;
  state: CustomerState;
  created_at: number;
  version: number;
}

export interface MemberTable {
  customer_id: string;
  user_id: string;
  role: MemberRole;
  created_at: number;
}

/** An invitation to join a customer; the token itself is shown once and kept nowhere. */
export interface InvitationTable {
  id: string;
  customer_id: string;
  /** Empty for the one that the first start prints: whoever has it may take it. */
  email: string;
  role: MemberRole;
  /** 1: whoever takes it becomes an operator too. */
  is_operator: number;
  /** SHA-256 of the token, hex; the token has 256 bits of chance. */
  token_digest: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
}

/** Credentials of programs for the control API; never the token itself. */
export interface AdminTokenTable {
  /** The public part: 8 base58 characters. */
  id: string;
  name: string;
  /** HMAC-SHA-256 of the full token under the pepper, hex. */
  digest: string;
  pepper_version: number;
  /** null: the operator's. */
  customer_id: string | null;
  role: MemberRole;
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** Tables of the log-in library. Its times are ISO text and its switches 0 or 1, the same in both dialects. */
export interface AuthUserTable {
  id: string;
  name: string;
  email: string;
  emailVerified: number;
  image: string | null;
  twoFactorEnabled: number | null;
  isOperator: number;
  createdAt: string;
  updatedAt: string;
}

export interface AuthSessionTable {
  id: string;
  /** `sha256:` and the digest of what the cookie holds, hex. */
  token: string;
  userId: string;
  expiresAt: string;
  ipAddress: string | null;
  userAgent: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface AuthAccountTable {
  id: string;
  accountId: string;
  providerId: string;
  userId: string;
  accessToken: string | null;
  refreshToken: string | null;
  idToken: string | null;
  accessTokenExpiresAt: string | null;
  refreshTokenExpiresAt: string | null;
  scope: string | null;
  password: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface AuthVerificationTable {
  id: string;
  identifier: string;
  value: string;
  expiresAt: string;
  createdAt: string;
  updatedAt: string;
}

export interface AuthTwoFactorTable {
  id: string;
  userId: string;
  /** Encrypted by the library, as are the backup codes. */
  secret: string;
  backupCodes: string;
  verified: number | null;
  failedVerificationCount: number | null;
  lockedUntil: string | null;
}

/** Codes of the second factor that were tried, so that none is taken twice. */
export interface AuthTriedCodeTable {
  user_id: string;
  /** SHA-256 of the code, hex. It says little: codes are short and live for a minute. */
  code_digest: string;
  tried_at: number;
}

async function createCustomers(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('customer')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('plan_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .execute();
  await sql`insert into customer (id, name, plan_id, state, created_at, version)
    values ('house', 'House', 'default', 'active', 0, 0)`.execute(db);
  await db.schema
    .createTable('member')
    .addColumn('customer_id', 'text', (column) => column.notNull().references('customer.id'))
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('member_row', ['customer_id', 'user_id'])
    .execute();
  await db.schema.createIndex('member_user').on('member').column('user_id').execute();
}

async function createInvitationsAndTokens(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('invitation')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('customer_id', 'text', (column) => column.notNull().references('customer.id'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('is_operator', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('token_digest', 'text', (column) => column.notNull().unique())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('accepted_at', 'bigint')
    .execute();
  await db.schema
    .createTable('admin_token')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    .addColumn('pepper_version', 'integer', (column) => column.notNull())
    .addColumn('customer_id', 'text', (column) => column.references('customer.id'))
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('created_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint')
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute();
}

async function createSignIn(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('auth_user')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('emailVerified', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('image', 'text')
    .addColumn('twoFactorEnabled', 'integer')
    .addColumn('isOperator', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('auth_session')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token', 'text', (column) => column.notNull().unique())
    .addColumn('userId', 'text', (column) => column.notNull())
    .addColumn('expiresAt', 'text', (column) => column.notNull())
    .addColumn('ipAddress', 'text')
    .addColumn('userAgent', 'text')
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('auth_session_user').on('auth_session').column('userId').execute();
}

async function createSignInMethods(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('auth_account')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('accountId', 'text', (column) => column.notNull())
    .addColumn('providerId', 'text', (column) => column.notNull())
    .addColumn('userId', 'text', (column) => column.notNull())
    .addColumn('accessToken', 'text')
    .addColumn('refreshToken', 'text')
    .addColumn('idToken', 'text')
    .addColumn('accessTokenExpiresAt', 'text')
    .addColumn('refreshTokenExpiresAt', 'text')
    .addColumn('scope', 'text')
    .addColumn('password', 'text')
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('auth_account_user').on('auth_account').column('userId').execute();
  await db.schema
    .createTable('auth_verification')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('identifier', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addColumn('expiresAt', 'text', (column) => column.notNull())
    .addColumn('createdAt', 'text', (column) => column.notNull())
    .addColumn('updatedAt', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('auth_two_factor')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('userId', 'text', (column) => column.notNull())
    .addColumn('secret', 'text', (column) => column.notNull())
    .addColumn('backupCodes', 'text', (column) => column.notNull())
    .addColumn('verified', 'integer')
    .addColumn('failedVerificationCount', 'integer')
    .addColumn('lockedUntil', 'text')
    .execute();
  await db.schema.createIndex('auth_two_factor_user').on('auth_two_factor').column('userId').execute();
  await db.schema
    .createIndex('auth_verification_identifier')
    .on('auth_verification')
    .column('identifier')
    .execute();
  await db.schema
    .createTable('auth_tried_code')
    .addColumn('user_id', 'text', (column) => column.notNull())
    .addColumn('code_digest', 'text', (column) => column.notNull())
    .addColumn('tried_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('auth_tried_code_row', ['user_id', 'code_digest'])
    .execute();
}

/** Step 6 of the schema. */
export async function createAccounts(db: Kysely<unknown>): Promise<void> {
  await createCustomers(db);
  await createInvitationsAndTokens(db);
  await createSignIn(db);
  await createSignInMethods(db);
}
