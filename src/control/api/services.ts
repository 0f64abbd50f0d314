import type { RpcClient } from '../../protocol/call.ts';
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

/** What handlers of the control API stand on. What other floors have is described as it is needed here. */
export type ApiServices = Readonly<{
  store: Store;
  peppers: Peppers;
  keysMax: number;
  keys: KeySettings;
  /** Unix milliseconds. */
  now: () => number;
  /** What answers calls, for what the chain says of a transaction; null at the command line. */
  rpcClient: RpcClient | null;
  mailer: Mailer | null;
  /** How often mail goes out that a customer's member caused; without it, as often as they like. */
  mailRateLimiter?: MailRateLimiter;
  /** What sends notices; absent where no gateway runs. */
  notices?: NoticeServices;
  accounts: AccountOptions;
  /** The REST interface, for the playground. */
  endpoints: readonly EndpointInfo[];
  /** What is in force, without its secrets. */
  configuration: () => Readonly<Record<string, unknown>>;
  configurationFile: string | null;
  service: ServiceInfo;
  /** How nodes are read and asked that are added while the service runs. */
  nodes?: NodeServices;
  /** Has this gateway act on changes of keys; absent where none runs. Never rejects. */
  refreshKeys?: () => Promise<void>;
  /** Reads the configuration again; absent where no gateway runs. @throws ApiError 409 with what is wrong */
  reload?: (by: ReloadActor) => Promise<ReloadResult>;
  /** How the request log is kept, and who follows it; absent where no gateway runs. */
  log?: LogServices;
}>;

/** Who lets the configuration be read again, for the audit log. */
export type ReloadActor = Pick<AuditEntry, 'actor' | 'address' | 'userAgent' | 'requestId'>;

/** Fields of the configuration that are another: in force from now on, or from the next start on. */
export type ReloadResult = Readonly<{ changed: readonly string[]; restart: readonly string[] }>;

/** What handlers of notices stand on besides the store. */
export type NoticeServices = Readonly<{ webhooks: WebhookSender; limits: NoticeLimits }>;

/** What is said of the request log beside its entries. */
export type LogServices = Readonly<{ share: number; perSecond: number; keptHours: number; tails: LogTails }>;

/** What holds of keys: section [keys] of the configuration. */
export type KeySettings = Readonly<{
  keysMax: number;
  customerKeysMax: number;
  overlapHours: number;
  /** Whether a key that was reported as leaked is revoked. */
  revokeLeaked: boolean;
  /** Who may report leaks. */
  scannerKeys: readonly ScannerKey[];
}>;

/** An endpoint of the REST interface: what it costs, and a query or body to begin with. */
export type EndpointInfo = Readonly<{ name: string; path: string; credits: number; example: string }>;

/** What the dashboard needs to know of the service. */
export type ServiceInfo = Readonly<{
  version: string;
  signUp: 'open' | 'invited';
  oidc: readonly Readonly<{ id: string; name: string }>[];
  network: string;
  urls: () => Readonly<{ http: string; ws: string; grpc: string | null }>;
  hasShredStage: () => boolean;
  /** In development mode the embedded ledger answers, not a Solana network. */
  mode: () => 'development' | 'production';
  plans: readonly Readonly<{ id: string; name: string }>[];
}>;
