import type { RpcDispatcher } from '../../protocol/call.ts';
import type { AccountOptions } from '../accounts/account-options.ts';
import type { Store } from '../database/open.ts';
import type { AuditEntry } from '../database/transaction.ts';
import type { ScannerKey } from '../keys/leaked-keys.ts';
import type { NodeServices } from '../nodes/node-feed.ts';
import type { Mailer, MailRateLimiter } from '../notifications/email.ts';
import type { NoticeLimits } from '../notifications/notice.ts';
import type { WebhookSender } from '../notifications/webhooks.ts';
import type { Peppers } from '../pepper.ts';
import type { LogTails } from '../requests/log-tails.ts';

/** Dependencies of the control API handlers. */
export type ApiServices = Readonly<{
  store: Store;
  peppers: Peppers;
  keysMax: number;
  keys: KeySettings;
  /** Unix milliseconds. */
  now: () => number;
  /** Dispatches calls, to read the on-chain status of transactions; null at the command line. */
  dispatcher: RpcDispatcher | null;
  mailer: Mailer | null;
  /** Absent: unlimited. */
  mailRateLimiter?: MailRateLimiter;
  /** Absent without a gateway. */
  notices?: NoticeServices;
  accounts: AccountOptions;
  /** For the playground. */
  endpoints: readonly EndpointInfo[];
  /** Effective configuration without secrets. */
  configuration: () => Readonly<Record<string, unknown>>;
  configurationFile: string | null;
  service: ServiceInfo;
  nodes?: NodeServices;
  /** Applies key changes in this gateway at once; absent without a gateway. Never rejects. */
  refreshKeys?: () => Promise<void>;
  /**
   * Reloads the configuration; absent without a gateway.
   * @throws ApiError 409 with the reason
   */
  reload?: (by: ReloadActor) => Promise<ReloadResult>;
  /** Absent without a gateway. */
  log?: LogServices;
}>;

/** Author of the reload, for the audit log. */
export type ReloadActor = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'>;

/** Changed configuration fields: applied now, or after a restart. */
export type ReloadResult = Readonly<{ changed: readonly string[]; restart: readonly string[] }>;

export type NoticeServices = Readonly<{ webhooks: WebhookSender; limits: NoticeLimits }>;

export type LogServices = Readonly<{ share: number; perSecond: number; keptHours: number; tails: LogTails }>;

/** Section [keys] of the configuration. */
export type KeySettings = Readonly<{
  keysMax: number;
  customerKeysMax: number;
  overlapHours: number;
  /** Whether leaked keys are revoked. */
  revokeLeaked: boolean;
  /** Keys of trusted leak scanners. */
  scannerKeys: readonly ScannerKey[];
}>;

/** A REST endpoint with its price and an example query or body. */
export type EndpointInfo = Readonly<{ name: string; path: string; credits: number; example: string }>;

export type ServiceInfo = Readonly<{
  version: string;
  signUp: 'open' | 'invited';
  oidc: readonly Readonly<{ id: string; name: string }>[];
  network: string;
  urls: () => Readonly<{ http: string; ws: string; grpc: string | null }>;
  hasShredStage: () => boolean;
  /** `development`: the embedded ledger answers instead of a Solana network. */
  mode: () => 'development' | 'production';
  plans: readonly Readonly<{ id: string; name: string }>[];
}>;
