import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import type { CustomerState, MemberRole } from '../../accounts/roles.ts';

/** Users, members and tokens. Times are Unix milliseconds unless noted. */
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

/** Owner of keys. The built-in customer always exists. */
export interface CustomerTable {
  id: string;
  name: string;
  /** Plan of its quota and of keys without a plan of their own. */
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

/** The token is stored as a digest only. */
export interface InvitationTable {
  id: string;
  customer_id: string;
  /** Empty: anyone with the token may accept. */
  email: string;
  role: MemberRole;
  /** 1: accepting it also grants operator rights. */
  is_operator: number;
  /** SHA-256 of the 256-bit random token, hex. */
  token_digest: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
}

/** Control API tokens; stored as a digest only. */
export interface AdminTokenTable {
  /** Public part: 8 base58 characters. */
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

/** Tables of the sign-in library, with ISO times and 0/1 booleans on both dialects. */
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
  /** `sha256:` and the digest of the cookie value, hex. */
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
  /** Encrypted by the library, like the backup codes. */
  secret: string;
  backupCodes: string;
  verified: number | null;
  failedVerificationCount: number | null;
  lockedUntil: string | null;
}

/** Used second-factor codes, to prevent replay. */
export interface AuthTriedCodeTable {
  user_id: string;
  /** SHA-256 of the code, hex. */
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

export async function createAccounts(db: Kysely<unknown>): Promise<void> {
  await createCustomers(db);
  await createInvitationsAndTokens(db);
  await createSignIn(db);
  await createSignInMethods(db);
}
