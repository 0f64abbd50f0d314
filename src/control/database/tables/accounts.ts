import { DEFAULT_CUSTOMER_ID, type MemberRole, type StoredCustomerState } from '../../accounts/roles.ts';

export interface AccountTables {
  customer: CustomerTable;
  member: {
    customer_id: string;
    user_id: string;
    role: MemberRole;
    created_at: number;
  };
  invitation: InvitationTable;
  admin_token: AdminTokenTable;
  usage_link: UsageLinkTable;
  /** This and the other tables of the sign-in library store times as ISO text. */
  auth_user: {
    id: string;
    name: string;
    email: string;
    emailVerified: number;
    image: string | null;
    twoFactorEnabled: number | null;
    isOperator: number;
    createdAt: string;
    updatedAt: string;
  };
  auth_session: {
    id: string;
    /** `sha256:` followed by the digest of the session token, hex. */
    token: string;
    userId: string;
    expiresAt: string;
    ipAddress: string | null;
    userAgent: string | null;
    createdAt: string;
    updatedAt: string;
  };
  auth_account: {
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
  };
  auth_verification: {
    id: string;
    identifier: string;
    value: string;
    expiresAt: string;
    createdAt: string;
    updatedAt: string;
  };
  auth_two_factor: {
    id: string;
    userId: string;
    /** Encrypted by the library, as are the backup codes. */
    secret: string;
    backupCodes: string;
    verified: number | null;
    failedVerificationCount: number | null;
    lockedUntil: string | null;
  };
  /** Used second-factor codes, to prevent replay. */
  auth_tried_code: {
    user_id: string;
    /** SHA-256 of the code, hex. */
    code_digest: string;
    tried_at: number;
  };
}

/** The built-in customer always exists. */
export interface CustomerTable {
  id: string;
  name: string;
  /** The customer's plan, which is also the default plan of its keys. */
  plan_id: string;
  state: StoredCustomerState;
  created_at: number;
  version: number;
}

export interface InvitationTable {
  id: string;
  customer_id: string;
  /** Empty: anyone with the token may accept. */
  email: string;
  role: MemberRole;
  /** 1: accepting the invitation also grants operator rights. */
  is_operator: number;
  /** SHA-256 of the 256-bit random token, hex. */
  token_digest: string;
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
}

export interface AdminTokenTable {
  /** Public part: 8 base58 characters. */
  id: string;
  name: string;
  /** HMAC-SHA-256 of the full token, keyed with the pepper, hex. */
  digest: string;
  pepper_version: number;
  /** null: an operator token. */
  customer_id: string | null;
  role: MemberRole;
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

/** A link to a customer's usage for people without an account. Revoked links are deleted. */
export interface UsageLinkTable {
  id: string;
  customer_id: string;
  name: string;
  /** SHA-256 of the 256-bit random token, hex. */
  token_digest: string;
  created_by: string;
  created_at: number;
  expires_at: number;
}

export const usageLinkTable = `
  create table usage_link (
    id text primary key, customer_id text not null references customer (id), name text not null,
    token_digest text not null unique, created_by text not null, created_at bigint not null,
    expires_at bigint not null
  )`;

export const accountTables = `
  create table customer (
    id text primary key, name text not null, plan_id text not null, state text not null,
    created_at bigint not null, version bigint not null
  );
  insert into customer (id, name, plan_id, state, created_at, version)
    values ('${DEFAULT_CUSTOMER_ID}', 'Default', 'default', 'active', 0, 0);
  create table member (
    customer_id text not null references customer (id), user_id text not null, role text not null,
    created_at bigint not null, constraint member_row primary key (customer_id, user_id)
  );
  create index member_user on member (user_id);
  create table invitation (
    id text primary key, customer_id text not null references customer (id), email text not null,
    role text not null, is_operator integer not null default 0, token_digest text not null unique,
    created_by text not null, created_at bigint not null, expires_at bigint not null, accepted_at bigint
  );
  create table admin_token (
    id text primary key, name text not null, digest text not null unique, pepper_version integer not null,
    customer_id text references customer (id), role text not null, created_by text not null,
    created_at bigint not null, expires_at bigint, last_used_at bigint, revoked_at bigint
  );
  create table auth_user (
    id text primary key, name text not null, email text not null unique,
    "emailVerified" integer not null default 0, image text, "twoFactorEnabled" integer,
    "isOperator" integer not null default 0, "createdAt" text not null, "updatedAt" text not null
  );
  create table auth_session (
    id text primary key, token text not null unique, "userId" text not null, "expiresAt" text not null,
    "ipAddress" text, "userAgent" text, "createdAt" text not null, "updatedAt" text not null
  );
  create index auth_session_user on auth_session ("userId");
  create table auth_account (
    id text primary key, "accountId" text not null, "providerId" text not null, "userId" text not null,
    "accessToken" text, "refreshToken" text, "idToken" text, "accessTokenExpiresAt" text,
    "refreshTokenExpiresAt" text, scope text, password text, "createdAt" text not null,
    "updatedAt" text not null
  );
  create index auth_account_user on auth_account ("userId");
  create table auth_verification (
    id text primary key, identifier text not null, value text not null, "expiresAt" text not null,
    "createdAt" text not null, "updatedAt" text not null
  );
  create index auth_verification_identifier on auth_verification (identifier);
  create table auth_two_factor (
    id text primary key, "userId" text not null, secret text not null, "backupCodes" text not null,
    verified integer, "failedVerificationCount" integer, "lockedUntil" text
  );
  create index auth_two_factor_user on auth_two_factor ("userId");
  create table auth_tried_code (
    user_id text not null, code_digest text not null, tried_at bigint not null,
    constraint auth_tried_code_row primary key (user_id, code_digest)
  )`;
