/** Options for the database, keys, accounts, limits, notices and plans. */

import { accountLimits } from '../control/accounts/account-options.ts';
import { alertOptions } from '../control/alerts/alert-options.ts';
import { OVERLAP_DEFAULT_MS, OVERLAP_MAX_MS } from '../control/api/contract/keys.ts';
import { controlApiOptions } from '../control/api/server/limits.ts';
import {
  statementOptions,
  stripeComparisonOptions,
  stripePusherOptions,
} from '../control/billing/billing-options.ts';
import {
  CREDITS_MAX,
  MONTHLY_PRICE_MAX,
  PRICE_PER_MILLION_MAX,
  planLimitRanges as ranges,
} from '../control/billing/plan-fields.ts';
import { stripeApiLimits } from '../control/billing/stripe-api.ts';
import { describeClickHouse } from '../control/clickhouse/client.ts';
import { databaseOptions, describePostgres } from '../control/database/open.ts';
import { healthOptions } from '../control/health/problem-tracker.ts';
import { keyFeedOptions } from '../control/keys/key-feed.ts';
import { keyLimits } from '../control/keys/key-register.ts';
import { nodeHistoryOptions } from '../control/nodes/node-history.ts';
import { mailLimits, mailRateLimits } from '../control/notifications/email.ts';
import { noticeLimits } from '../control/notifications/notice.ts';
import { clickHouseLogOptions } from '../control/requests/clickhouse/clickhouse-log.ts';
import { heartbeatOptions } from '../control/requests/gateway-heartbeat.ts';
import { retentionLimits } from '../control/requests/log-retention.ts';
import { tailLimits } from '../control/requests/log-tails.ts';
import { requestWriterOptions } from '../control/requests/request-writer.ts';
import { quotaReaderTimings } from '../control/shared/quota-reader.ts';
import { sharingLimits } from '../control/shared/shared-limits.ts';
import { usageJournalOptions } from '../control/usage/usage-journal.ts';
import { usageRetention } from '../control/usage/usage-retention.ts';
import { usageWriterOptions } from '../control/usage/usage-writer.ts';
import { failedAuthOptions } from '../gateway/auth/failed-auth-limiter.ts';
import { defaultPlanLimits as planLimits } from '../gateway/auth/key-record.ts';
import { quotaLedgerOptions } from '../gateway/limits/quota.ts';
import { usageMeterOptions } from '../gateway/metering/usage-meter.ts';
import { requestLogOptions } from '../gateway/telemetry/request-log.ts';
import { products } from '../protocol/product.ts';
import { postLimits } from '../upstream/off-chain/checked-post.ts';
import { limit, omit, option, optional, pick, required, section, withDefaultsOf } from './option.ts';
import {
  cidr,
  connectableNetwork,
  currency,
  DAY_MS,
  databaseUrl,
  GIB,
  HOUR_MS,
  httpUrl,
  label,
  line,
  list,
  MIB,
  methodPrices,
  namedTables,
  oneOf,
  onOff,
  originUrl,
  path,
  ratio,
  redisUrl,
  scannerPem,
  secretLine,
  secureUrl,
  smtpUrl,
  table,
  text,
  whole,
} from './value-types.ts';

export const store = section(
  'Database of keys, plans, usage and audit.',
  {
    database_url: option(databaseUrl, null, 'PostgreSQL URL; if unset, SQLite in data_dir/solway.db.', {
      common: true,
      secret: true,
      env: 'DATABASE_URL',
      example: '"postgres://user:password@host:5432/solway"',
      show: describePostgres,
    }),
    clickhouse_url: option(
      httpUrl,
      null,
      'ClickHouse URL for usage details and the request log; if unset, both are stored in the database.',
      {
        secret: true,
        env: 'CLICKHOUSE_URL',
        example: '"https://user:password@host:8443/database"',
        show: describeClickHouse,
      },
    ),
    connections_max: limit(whole(2, 1_000), 'Maximum PostgreSQL connections.'),
    query_timeout_ms: limit(whole(100, HOUR_MS), 'Timeout of a query.'),
  },
  { ...databaseOptions, unavailableAfterMs: keyFeedOptions.unavailableAfterMs },
);

const SCANNER_KEYS_MAX = 32;

const jwtRows = {
  issuer: required(line, 'Value of the claim iss.', { example: '"https://id.example.com"' }),
  audience: required(line, 'Value that the claim aud must contain.', { example: '"solway"' }),
  jwks_url: required(
    secureUrl,
    "URL of the issuer's JSON Web Key Set (JWKS) with RS256, ES256 or EdDSA keys.",
    { example: '"https://id.example.com/jwks.json"' },
  ),
  key_claim: option(line, 'api_key_id', 'Claim with the id of the API key.'),
};

const scannerKeyRows = {
  id: required(
    text(/^[A-Za-z0-9._-]{1,128}$/, 'the id of a public key, as the scanner names it'),
    'Id of the public key.',
  ),
  pem: required(scannerPem, 'Public key, P-256.'),
};

export const keys = section(
  'API keys and usage.',
  {
    // Must allow at least one key per product, because the first start creates that many.
    keys_max: option(
      whole(Object.keys(products).length, 10_000_000),
      1_000_000,
      'Maximum active keys, about 1 KB of memory each.',
    ),
    customer_keys_max: limit(whole(1, 10_000_000), 'Maximum keys per customer.', { reload: true }),
    overlap_hours: option(
      whole(0, OVERLAP_MAX_MS / HOUR_MS),
      OVERLAP_DEFAULT_MS / HOUR_MS,
      'Hours that the old key stays valid after a rotation.',
      { reload: true },
    ),
    failed_auth_per_minute: limit(
      whole(1, 1_000_000),
      'Invalid keys per minute from one address before it is blocked.',
      { common: true, reload: true },
    ),
    failed_auth_block_ms: limit(whole(100, HOUR_MS), 'How long an address is blocked after invalid keys.', {
      reload: true,
    }),
    failed_auth_exempt: option(
      list(cidr, 256, 'failed_auth_exempt = ["127.0.0.0/8"]'),
      [...failedAuthOptions.failedAuthExempt],
      'Addresses that are never blocked, in addition to trusted proxies.',
    ),
    jwt: option(table(jwtRows), null, 'Accept JWTs from your issuer instead of API keys.', {
      rows: jwtRows,
    }),
    revoke_leaked: option(onOff, false, 'Revoke keys that a secret scanner reports.', { reload: true }),
    scanner_keys: option(
      namedTables('keys.scanner_keys', 'key', scannerKeyRows, SCANNER_KEYS_MAX),
      [],
      'Public keys of secret scanners that may report to /api/v1/secret-scanning.',
      { rows: scannerKeyRows },
    ),
    usage_retention_days: limit(whole(1, 36_500), 'Retention of usage per day, in days.', { common: true }),
    usage_hours_days: limit(whole(1, 36_500), 'Retention of usage per hour, in days.'),
    usage_minutes_days: limit(whole(1, 36_500), 'Retention of usage per minute, in days.'),
    usage_journal_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum usage stored on disk while the database, or ClickHouse, is unavailable.',
    ),
  },
  {
    pollIntervalMs: keyFeedOptions.pollIntervalMs,
    customerKeysMax: keyLimits.customerKeysMax,
    usageFlushIntervalMs: usageWriterOptions.flushIntervalMs,
    usageRowsMax: usageMeterOptions.rowsMax,
    usageRetentionDays: usageRetention.daysDays,
    usageHoursDays: usageRetention.hoursDays,
    usageMinutesDays: usageRetention.minutesDays,
    usageJournalMaxBytes: usageJournalOptions.maxBytes,
    ...pick(failedAuthOptions, ['failedAuthPerMinute', 'failedAuthBlockMs', 'addressesMax']),
  },
);

const domain = text(/^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/, 'a lowercase domain such as "example.com"');

const oidcRows = {
  id: required(
    text(/^[a-z0-9][a-z0-9-]{0,31}$/, '1 to 32 lowercase letters, digits and dashes'),
    'Last part of the redirect URI <public_url>/api/auth/callback/<id>.',
    { example: '"example"' },
  ),
  name: required(label, 'Label of the button.', { example: '"Example"' }),
  discovery_url: required(httpUrl, 'Discovery document.', {
    example: '"https://id.example.com/.well-known/openid-configuration"',
  }),
  client_id: required(text(/^\P{Cc}{1,512}$/u, 'text of one line'), 'Client id.', { example: '"solway"' }),
  client_secret: required(secretLine, 'Client secret.', { secret: true, example: '"env:OIDC_SECRET"' }),
  token_audience: option(
    line,
    null,
    'Audience of the JWTs of this provider that the control API accepts as tokens.',
    { example: '"solway-api"' },
  ),
  domains: option(
    list(domain, 64, 'domains = ["example.com"]'),
    [],
    'Email domains whose verified addresses may sign up without an invitation; they become viewers of the customer `house`.',
  ),
};

const PROVIDERS_MAX = 16;

export const accounts = section(
  'Accounts of the dashboard and the control API.',
  {
    sign_up: option(oneOf(['invited', 'open']), 'invited', 'Who may create an account.', {
      common: true,
      reload: true,
    }),
    public_url: option(originUrl, null, 'Public address of the service: for mailed links and cookies.', {
      common: true,
      example: '"https://solway.example.com"',
    }),
    password_min: limit(whole(8, 128), 'Minimum password length.'),
    session_days: limit(whole(1, 365), 'Days that a session lasts.'),
    members_max: limit(whole(1, 100_000), 'Maximum members per customer.', { reload: true }),
    oidc: option(
      namedTables('accounts.oidc', 'provider', oidcRows, PROVIDERS_MAX).refine(
        (all) => new Set(all.map(({ id }) => id)).size === all.length,
        { error: 'two providers have the same id: give each its own' },
      ),
      [],
      'OpenID Connect providers.',
      { rows: oidcRows },
    ),
  },
  {
    sessionDays: accountLimits.sessionMs / DAY_MS,
    accountFreeAttempts: accountLimits.accountAttempts.freeAttempts,
    addressFreeAttempts: accountLimits.addressAttempts.freeAttempts,
    ...pick(accountLimits, ['passwordMin', 'hashesMax', 'hashesWaitingMax']),
    ...pick(accountLimits, [
      'membersMax',
      'invitationsMax',
      'invitationMs',
      'tokensMax',
      'customersPerUserMax',
    ]),
  },
);

export const shared = section(
  'Limits shared by several gateways through Redis or Valkey.',
  {
    redis_url: option(redisUrl, null, 'Address; rediss:// for TLS.', {
      common: true,
      secret: true,
      env: 'REDIS_URL',
      example: '"rediss://user:password@host:6379"',
    }),
    tls_ca: option(path, null, 'Certificate authorities in PEM, for a private one.', {
      example: '"redis-ca.pem"',
    }),
    prefix: option(
      text(/^[A-Za-z0-9._:-]{0,64}$/, 'up to 64 letters, digits, dots, dashes and colons'),
      'solway:',
      'Prefix of the Redis keys.',
    ),
    gateways_min: limit(whole(1, 1_000), 'Minimum number of gateways to assume until Redis is reached.'),
  },
  sharingLimits,
);

export const notices = section(
  'Notices to customers and alerts to operators.',
  {
    allow_networks: option(
      list(connectableNetwork, 256, 'allow_networks = ["10.0.0.0/8"]'),
      [],
      'Private networks that webhooks may reach.',
    ),
    ports: option(
      list(whole(1, 65_535), 64, 'ports = [80, 443]'),
      [80, 443],
      'Ports that webhooks may reach.',
    ),
    retention_days: limit(whole(32, 36_500), 'Retention of notices, in days.', { reload: true }),
  },
  { ...noticeLimits, ...postLimits },
);

export const health = section(
  'When the dashboard and alerts report a problem.',
  {
    error_ratio: limit(ratio, 'Share of failed requests in a minute above which a problem is reported.', {
      reload: true,
    }),
    stream_lag_slots: limit(
      whole(1, 1_000_000),
      'Slots behind the nodes above which a problem is reported.',
      {
        reload: true,
      },
    ),
  },
  { ...healthOptions, ...alertOptions },
);

export const mail = section(
  'Mail: notices, invitations, password links.',
  {
    smtp_url: option(smtpUrl, null, 'Mail server.', {
      common: true,
      reload: true,
      secret: true,
      example: '"smtps://user:password@host:465"',
    }),
    from: option(line, null, 'Sender address.', {
      common: true,
      reload: true,
      example: '"Solway <noreply@example.com>"',
    }),
    customer_per_hour: limit(
      whole(0, 100_000),
      'Maximum invitation and test mails per hour per customer, and per user.',
      { reload: true },
    ),
    recipient_per_hour: limit(
      whole(0, 100_000),
      'Maximum invitation and test mails per hour to one address.',
      { reload: true },
    ),
  },
  { ...mailLimits, ...mailRateLimits },
);

export const requestLog = section(
  'Request log of customers.',
  {
    per_second: limit(whole(0, 100_000), 'Maximum requests logged per second with all their steps.', {
      reload: true,
    }),
    sample_ratio: limit(ratio, 'Share of the requests above per_second that are logged.', { reload: true }),
    slow_ms: limit(whole(1, HOUR_MS), 'Slower requests are logged like failures.', { reload: true }),
    body_max_bytes: limit(
      whole(0, 65_536),
      'Maximum logged bytes of params and results, for keys that allow it.',
      { reload: true },
    ),
    retention_hours: limit(whole(1, 8_760), 'Retention of entries, in hours.', {
      common: true,
      reload: true,
    }),
    rows_max: limit(
      whole(1, 1_000_000_000),
      'Maximum entries in the database; does not apply to ClickHouse.',
      { reload: true },
    ),
    journal_max_bytes: limit(
      whole(MIB, 64 * GIB),
      'Maximum bytes of entries stored on disk while ClickHouse is unavailable; above it, the oldest entries are dropped.',
    ),
  },
  {
    ...requestLogOptions,
    ...retentionLimits,
    journalMaxBytes: clickHouseLogOptions.journalMaxBytes,
    flushIntervalMs: requestWriterOptions.flushIntervalMs,
    ...pick(tailLimits, ['tailsMax', 'customerTailsMax', 'followerTailsMax', 'operatorTailsReserved']),
  },
);

const billingRows = {
  currency: required(currency, 'Currency (ISO 4217), such as "usd".'),
  monthly_price: option(whole(0, MONTHLY_PRICE_MAX), 0, 'Price per month.'),
  included_credits: option(whole(0, CREDITS_MAX), 0, 'Credits that the monthly price covers.'),
  price_per_million: option(whole(0, PRICE_PER_MILLION_MAX), 0, 'Price of a million further credits.'),
};

const writtenPlanRows = {
  name: optional(label, 'Name in the dashboard. Default: the id.', { example: '"default"' }),
  rpc_per_second: limit(whole(...ranges.rpcPerSecond), 'Maximum JSON-RPC calls per second; 0: unlimited.', {
    common: true,
  }),
  rpc_burst: limit(whole(...ranges.rpcBurst), 'Maximum burst of calls.', { common: true }),
  monthly_credits: limit(whole(...ranges.monthlyCredits), 'Credits per month (UTC); 0: unlimited.', {
    common: true,
  }),
  quota_is_hard: limit(onOff, 'Reject calls above monthly_credits; if false, only notify.'),
  stream_credits: limit(
    whole(...ranges.streamCredits),
    'Credits per 100,000 bytes of notifications and stream messages.',
  ),
  prices: option(
    methodPrices,
    {},
    'Credits of methods and endpoints that differ from docs/reference/json-rpc.md.',
    { example: '{ getProgramAccounts = 10 }' },
  ),
  billing: option(
    table(billingRows),
    null,
    'Price per month, the credits it includes, and the price of a million more; money in minor units.',
    {
      example:
        '{ currency = "usd", monthly_price = 4900, included_credits = 1000000, price_per_million = 500 }',
    },
  ),
  ws_connections_max: limit(whole(...ranges.wsConnectionsMax), 'Maximum WebSocket connections per key.'),
  ws_subscriptions_max: limit(whole(...ranges.wsSubscriptionsMax), 'Maximum subscriptions per connection.'),
  ws_message_max_bytes: limit(whole(...ranges.wsMessageMaxBytes), 'Maximum size of a client message.'),
  grpc_streams_max: limit(whole(...ranges.grpcStreamsMax), 'Maximum gRPC streams per key.'),
  grpc_filters_max: limit(whole(...ranges.grpcFiltersMax), 'Maximum filters per request.'),
  grpc_blocks_max: limit(whole(...ranges.grpcBlocksMax), 'Maximum block filters per request.'),
  grpc_pubkeys_max: limit(whole(...ranges.grpcPubkeysMax), 'Maximum addresses in all filters of a request.'),
  grpc_cuckoo_max_bytes: limit(
    whole(...ranges.grpcCuckooMaxBytes),
    'Maximum bytes of cuckoo filters per request, at least 65,536 each.',
  ),
};

export const planRows = withDefaultsOf(writtenPlanRows, planLimits);

/** A plan with tiny limits, for testing how clients handle them. */
export const REHEARSAL_PLAN_ID = 'rehearsal';

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

export const controlApi = section('', {}, controlApiOptions);
export const quotas = section('', {}, { ...quotaLedgerOptions, ...quotaReaderTimings });
export const nodeHistory = section('', {}, nodeHistoryOptions);
export const stripe = section(
  'Reports usage hourly to a Stripe billing meter.',
  {
    secret_key: option(
      secretLine,
      null,
      'Secret key; write access to meter events, read access to meters and customers.',
      {
        secret: true,
        example: '"env:STRIPE_SECRET_KEY"',
      },
    ),
    meter: option(label, 'api_credits', 'Event name of the meter, which aggregates by sum.'),
  },
  { ...stripeApiLimits, ...stripePusherOptions, ...stripeComparisonOptions },
);
export const billing = section('', {}, statementOptions);
export const gateways = section('', {}, omit(heartbeatOptions, ['onState', 'now']));
