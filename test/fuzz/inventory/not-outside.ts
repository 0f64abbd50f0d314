/** Why files that have the signs of a decoder have no target, in groups that share the reason. */
const reasons = [
  {
    because: 'reads what the operator writes on the command line or puts beside the program',
    files: [
      'config/sources.ts',
      'app/localnet/genesis-files.ts',
      'app/commands/operators.ts',
      'app/servers/tls-files.ts',
      'cli/key-arguments.ts',
      'cli/key-arguments.ts',
      'control/database/open.ts',
      'control/pepper.ts',
      'cli/api-token.ts',
      'cli/node-arguments.ts',
      'gateway/auth/api-key.ts: parseKeyId',
    ],
  },
  {
    because: 'reads what this program has written itself: a copy of an object, its own version, its own lock',
    files: [
      'app/doctor/host.ts',
      'app/servers/endpoint-facts.ts',
      'app/commands/keys.ts',
      'app/program-version.ts',
      'control/api/client.ts',
      'control/api/server/control-api.ts',
      'servers/dashboard/files.ts',
      'app/reload-commands.ts',
      'decoding/transaction/events/layout.ts: parseLayouts',
      'decoding/transaction/events/layout.ts: parsePositions',
    ],
  },
  {
    because: 'goes between processes of this program that trust each other',
    files: ['app/cluster/ipc-channel.ts'],
  },
  {
    because: 'reads rows of the own database, whose columns only this program writes',
    files: [
      'app/upstreams/added-nodes.ts: readAddedNodes',
      'control/api/handlers/audit.ts',
      'control/api/handlers/logs.ts',
      'control/api/handlers/usage.ts',
      'control/keys/key-register.ts',
      'control/nodes/added-nodes.ts',
      'control/notifications/notifier.ts',
      'control/plans.ts',
      'control/requests/read-gateways.ts',
      'control/requests/read-gateways.ts',
      'control/requests/read-log.ts',
      'control/requests/read-submissions.ts',
      'control/shared/quota-reader.ts',
      'control/usage/usage-rows.ts',
      'localnet/history/history-index.ts',
    ],
  },
  {
    because: 'opens what was sealed under a key of this program: nobody else can have written it',
    files: [
      'control/nodes/added-nodes.ts',
      'control/notifications/webhooks.ts',
      'control/semi-wallets/envelope.ts',
      'control/semi-wallets/semi-wallet-store.ts',
    ],
  },
  {
    because: 'hands on what a file with a target has read or will read, and looks at none of it itself',
    files: [
      'rest-api/openapi.ts',
      'gateway/rest/upstream-calls.ts',
      'gateway/websocket/session.ts',
      'decoding/nft/nft-draft.ts',
      'decoding/nft/read-nfts.ts',
      'decoding/token/read-mints.ts',
      'servers/http/decode.ts',
      'servers/ipfs/server.ts',
      'upstream/das/das-client.ts',
      'upstream/geyser/account-subscriptions.ts',
      'localnet/http/server.ts',
      'upstream/geyser/stream-reader.ts',
    ],
  },
  {
    because:
      'asks a schema or the readers of ledger/encoding/read-json.ts, which node-results feeds, for a field or two',
    files: [
      'control/api/handlers/notices.ts',
      'upstream/confirmations/status-poller.ts',
      'upstream/feeds/node-subscriptions.ts',
      'upstream/genesis.ts',
      'upstream/slots/context-slot.ts',
    ],
  },
] as const;

/** Files below src/ that decode something and have no target, or functions of files that have one; each with the reason. */
export const notOutside: Readonly<Record<string, string>> = Object.fromEntries(
  reasons.flatMap(({ because, files }) => files.map((file) => [file, because])),
);
