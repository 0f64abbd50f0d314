import type { RpcDispatcher } from '../../protocol/call.ts';
import type { AccountOptions } from '../accounts/account-options.ts';
import type { StripeApi } from '../billing/stripe-api.ts';
import type { AuditEntry } from '../database/audit-entry.ts';
import type { Store } from '../database/store.ts';
import type { ScannerKey } from '../keys/leaked-keys.ts';
import type { NodeServices } from '../nodes/node-feed.ts';
import type { Mailer, MailRateLimiter } from '../notifications/email.ts';
import type { NoticeLimits } from '../notifications/notice.ts';
import type { WebhookSender } from '../notifications/webhooks.ts';
import type { Peppers } from '../pepper.ts';
import type { LogStore } from '../requests/log-store.ts';
import type { LogTails } from '../requests/log-tails.ts';
import { SqlLog } from '../requests/sql-log.ts';
import { databaseUsage, type UsageReader } from '../usage/usage-reader.ts';
import type { RouteOutput } from './contract/contract.ts';

/** Dependencies of the control API handlers. */
export type ApiServices = Readonly<{
  store: Store;
  peppers: Peppers;
  keys: KeySettings;
  now: () => number;
  /** Reads the on-chain status of transactions; null on the command line. */
  dispatcher: RpcDispatcher | null;
  mailer: Mailer | null;
  /** Absent: unlimited. */
  mailRateLimiter?: MailRateLimiter;
  /** Absent without a gateway. */
  notices?: NoticeServices;
  accounts: AccountOptions;
  endpoints: readonly EndpointInfo[];
  configuration: () => Readonly<Record<string, unknown>>;
  configurationFile: string | null;
  service: () => ServiceInfo;
  nodes?: NodeServices;
  /** Applies key changes in this gateway. Never rejects. Absent without a gateway. */
  refreshKeys?: () => Promise<void>;
  /** Absent without a gateway. @throws ApiError 409 with the reason */
  reload?: (by: ReloadActor) => Promise<ReloadResult>;
  /** Absent without a gateway. */
  log?: LogServices;
  /** Absent if usage is read from the database only. */
  usage?: UsageReader | undefined;
  /** Absent without a gateway or a secret key of Stripe. */
  stripe?: Pick<StripeApi, 'hasCustomer'> | undefined;
}>;

export type ReloadActor = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'>;

/** Names of changed configuration fields: those applied now, and those that need a restart. */
export type ReloadResult = Readonly<{ changed: readonly string[]; restart: readonly string[] }>;

type NoticeServices = Readonly<{ webhooks: WebhookSender; limits: NoticeLimits }>;

export type LogServices = Readonly<{ settings: LogSettings; tails: LogTails; store: LogStore }>;

/** The request log; without a gateway, that of the database. */
export const logStoreOf = ({ log, store }: Pick<ApiServices, 'log' | 'store'>): LogStore =>
  log?.store ?? new SqlLog(store);

/** Usage in ClickHouse and the database, or in the database only. */
export const usageReaderOf = ({ usage, store }: Pick<ApiServices, 'usage' | 'store'>): UsageReader =>
  usage ?? databaseUsage(store);

/** From the [request_log] section of the configuration. */
type LogSettings = Readonly<{ sampleRatio: number; perSecond: number; retentionHours: number }>;

/** The [keys] section of the configuration. */
type KeySettings = Readonly<{
  keysMax: number;
  customerKeysMax: number;
  overlapHours: number;
  revokeLeaked: boolean;
  scannerKeys: readonly ScannerKey[];
}>;

export type EndpointInfo = Readonly<{ name: string; path: string; credits: number; example: string }>;

type ServiceInfo = Omit<RouteOutput<'GET /me'>['service'], 'needsSetup' | 'mail'>;
