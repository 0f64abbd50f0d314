import { mailLimits as mail, mailRateLimits as mailPace } from '../../control/notifications/email.ts';
import { noticeLimits as notice } from '../../control/notifications/notice.ts';
import { quotaReaderLimits as reader } from '../../control/shared/quota-reader.ts';
import { sharingLimits as sharing } from '../../control/shared/shared-limits.ts';
import { quotaLedgerOptions as ledger } from '../../gateway/limits/quota.ts';
import { postLimits as post } from '../../upstream/off-chain/checked-post.ts';
import { anything, HOUR_MS, list, section, text, url, whole } from '../field-types.ts';
import { connectableNetwork } from './rest.ts';

/** The sections of quotas, of what gateways share, and of how customers are told. */

/** Where Redis or Valkey is. */
export const redisUrl = url(['redis:', 'rediss:'], 'a Redis URL', 'rediss://user:password@host:6379');
const smtpUrl = url(['smtp:', 'smtps:'], 'an smtp(s) URL', 'smtp://user:password@host:587');

/** `[shared]`: limits that several gateways share through Redis or Valkey. */
export const sharedSection = section({
  redis_url: redisUrl.nullable().default(null),
  tls_ca: anything.nullable().default(null),
  prefix: text(/^[A-Za-z0-9._:-]{0,64}$/, 'up to 64 letters, digits, dots, dashes and colons').default(
    'solway:',
  ),
  sync_interval_ms: whole(5, 60_000).default(sharing.syncIntervalMs),
  connect_timeout_ms: whole(50, 60_000).default(sharing.connectTimeoutMs),
  command_timeout_ms: whole(10, 60_000).default(sharing.commandTimeoutMs),
  reconnect_max_ms: whole(10, 60_000).default(sharing.reconnectMaxMs),
  presence_ms: whole(500, HOUR_MS).default(sharing.presenceMs),
  gateways_least: whole(1, 1_000).default(sharing.gatewaysLeast),
  names_max: whole(1, 100_000).default(sharing.namesMax),
});

/** `[quotas]`: how it is known what was used of a month. */
export const quotasSection = section({
  accounts_max: whole(1, 100_000_000).default(ledger.accountsMax),
  read_interval_ms: whole(100, HOUR_MS).default(reader.readIntervalMs),
  late_minutes: whole(1, 24 * 60).default(reader.lateMinutes),
  recount_interval_ms: whole(1_000, 24 * HOUR_MS).default(reader.recountIntervalMs),
  first_recount_ms: whole(100, HOUR_MS).default(reader.firstRecountMs),
});

/** `[mail]`: how mail is handed over. */
export const mailSection = section({
  smtp_url: smtpUrl.nullable().default(null),
  from: anything.nullable().default(null),
  timeout_ms: whole(100, HOUR_MS).default(mail.timeoutMs),
  in_flight_max: whole(1, 10_000).default(mail.inFlightMax),
  customer_per_hour: whole(0, 100_000).default(mailPace.customerPerHour),
  receiver_per_hour: whole(0, 100_000).default(mailPace.receiverPerHour),
});

/** `[notices]`: how customers are told that their quota runs out. */
export const noticesSection = section({
  allow_networks: list(connectableNetwork, 256, 'allow_networks = ["10.0.0.0/8"]', []),
  ports: list(whole(1, 65_535), 64, 'ports = [80, 443]', [80, 443]),
  connect_timeout_ms: whole(50, 60_000).default(post.connectTimeoutMs),
  resolve_timeout_ms: whole(50, 60_000).default(post.resolveTimeoutMs),
  url_max_length: whole(64, 2_048).default(post.urlMaxLength),
  watch_interval_ms: whole(10, HOUR_MS).default(notice.watchIntervalMs),
  poll_interval_ms: whole(10, HOUR_MS).default(notice.pollIntervalMs),
  in_flight_max: whole(1, 1_000).default(notice.inFlightMax),
  timeout_ms: whole(100, HOUR_MS).default(notice.timeoutMs),
  tries_max: whole(1, 100).default(notice.triesMax),
  retry_ms: whole(10, HOUR_MS).default(notice.retryMs),
  retry_max_ms: whole(10, 24 * HOUR_MS).default(notice.retryMaxMs),
  targets_max: whole(0, 1_000).default(notice.targetsMax),
  test_interval_ms: whole(0, HOUR_MS).default(notice.testIntervalMs),
  kept_days: whole(32, 36_500).default(notice.keptDays),
});

/** The plan on which customers see what limits look like from where they are. */
export const REHEARSAL_PLAN_ID = 'rehearsal';

/** Its fields where they differ from those of other plans. */
export const rehearsalPlan = {
  name: 'rehearsal',
  rpc_per_second: 1,
  rpc_burst: 2,
  ws_connections_max: 2,
  ws_subscriptions_max: 2,
  grpc_streams_max: 2,
  monthly_credits: 100,
  stream_credits: 1,
} as const;
