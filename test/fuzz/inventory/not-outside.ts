const reasons = [
  {
    because: 'reads the command line and local files of the operator',
    files: [
      'config/sources.ts',
      'app/localnet/genesis-files.ts',
      'app/localnet/clone-options.ts',
      'app/commands/operators.ts',
      'app/servers/tls-files.ts',
      'cli/key-arguments.ts',
      'control/database/open.ts',
      'control/pepper.ts',
      'cli/api-token.ts',
      'cli/node-arguments.ts',
      'gateway/auth/api-key.ts: parseKeyId',
    ],
  },
  {
    because: 'reads data written by this program: a copy of an object, its version, its lock',
    files: [
      'app/doctor/host.ts',
      'control/alerts/outage-alert.ts',
      'app/servers/endpoint-facts.ts',
      'app/program-version.ts',
      'control/process-owned.ts',
      'control/api/client.ts',
      'servers/dashboard/files.ts',
      'app/reload-commands.ts',
      // Its own test damages the file.
      'upstream/middleware/disk-store.ts',
      'decoding/transaction/events/layout.ts: parseLayouts',
      'decoding/transaction/events/layout.ts: parsePositions',
    ],
  },
  {
    because:
      'serves tests on a developer machine: methods for tests, and the cluster that the developer forks',
    files: ['localnet/fork/remote-accounts.ts', 'localnet/test-methods/token-account-update.ts'],
  },
  {
    because: 'connects processes of this program that trust each other',
    files: ['app/cluster/ipc-channel.ts'],
  },
  {
    because: 'reads rows of its own database',
    files: [
      'app/upstreams/added-nodes.ts: readAddedNodes',
      'control/alerts/alert-log.ts',
      'control/api/handlers/audit.ts',
      'control/api/handlers/logs.ts',
      'control/api/handlers/plan-changes.ts',
      'control/api/handlers/plans.ts',
      'control/api/handlers/usage.ts',
      'control/billing/bill.ts',
      'control/billing/customer-plan.ts',
      'control/billing/statement.ts',
      'control/billing/plan-price.ts',
      'control/health/read-problems.ts',
      'control/health/service-status.ts',
      'control/keys/key-register.ts',
      'control/nodes/added-nodes.ts',
      'control/notifications/notifier.ts',
      'control/plans.ts',
      'control/nodes/read-node-history.ts',
      'control/requests/read-gateways.ts',
      'control/requests/read-submissions.ts',
      'control/requests/read-unknown-methods.ts',
      'control/shared/quota-reader.ts',
      'control/usage/read-top.ts',
      'control/usage/read-usage.ts',
      'control/usage/usage-rows.ts',
      'control/usage/usage-sums.ts',
      'localnet/history/history-index.ts',
    ],
  },
  {
    because: 'reads a few checked fields of a service that the operator chose',
    files: [
      'control/billing/stripe-api.ts',
      'control/accounts/oidc-discovery.ts',
      'control/clickhouse/client.ts',
    ],
  },
  {
    because: 'opens data sealed with a key of this program',
    files: ['control/semi-wallets/envelope.ts', 'control/json-seal.ts'],
  },
  {
    because: 'passes on bytes that a covered file reads',
    files: [
      'base/read-limited.ts',
      'rest-api/openapi.ts',
      'gateway/rest/upstream-calls.ts',
      'gateway/websocket/session.ts',
      'gateway/auth/jwks.ts',
      'servers/grpc/http-streams.ts',
      'servers/ipfs/server.ts',
      'upstream/das/das-client.ts',
      'upstream/feeds/geyser/geyser-feed.ts',
      'upstream/geyser/account-subscriptions.ts',
      'localnet/http/server.ts',
      'upstream/geyser/stream-reader.ts',
    ],
  },
  {
    because: 'only uses a schema or the readers of solana/encoding/read-json.ts, which node-results covers',
    files: [
      'control/api/handlers/notice-targets.ts',
      'upstream/confirmations/status-poller.ts',
      'upstream/feeds/node-subscriptions.ts',
      'upstream/slots/context-slot.ts',
    ],
  },
] as const;

/** Decoding files without a target, and functions of covered files, with the reason. */
export const notOutside: Readonly<Record<string, string>> = Object.fromEntries(
  reasons.flatMap(({ because, files }) => files.map((file) => [file, because])),
);
