/**
 * Rules for node errors. Unlisted codes are returned without a retry and rank as least informative. Sources: Agave
 * rpc-client-api `custom_error.rs`; reference solana-json-rpc.md §1.6, §2.2; providers' practice for throttling codes.
 */

/** `confirm`: ask one other node, since this node's ledger may have a gap. `throttled`: handled like HTTP 429. */
export type NodeErrorRule = 'accept' | 'retry' | 'confirm' | 'throttled';

export type NodeErrorRow = Readonly<{
  name: string;
  rule: NodeErrorRule;
  /** Used to return the most informative of several nodes' errors; 0 is the most informative. */
  rank: number;
  /** Defined by JSON-RPC or Agave: accepted even with an HTTP error status. */
  standard: boolean;
  mayHaveActed: boolean;
  behind: boolean;
  /** The response may have `id: null`, because the node could not parse the request. */
  unreadable: boolean;
  preflight: boolean;
  didNothing: boolean;
  /** What the node is known to lack if another node then answers the call; null: the failure is transient. */
  missing: MissingCapability | null;
}>;

/** `older`: the requested slot and all earlier slots. `newer`: the requested slot and, for now, all later slots. */
export type MissingCapability = 'method' | 'older' | 'newer';

/** Default rank, used for unsupported methods and throttling, for example. */
const RANK_LEAST_INFORMATIVE = 5;

const row = (
  name: string,
  rule: NodeErrorRule,
  rank = RANK_LEAST_INFORMATIVE,
  extra: Partial<NodeErrorRow> = {},
): NodeErrorRow => ({
  name,
  rule,
  rank,
  standard: true,
  mayHaveActed: false,
  behind: false,
  unreadable: false,
  preflight: false,
  didNothing: false,
  missing: null,
  ...extra,
});

// biome-ignore format: a table is read by its columns
const rows: ReadonlyMap<number, NodeErrorRow> = new Map([
  [-32001, row('BLOCK_CLEANED_UP', 'confirm', 0, { missing: 'older' })],
  [-32002, row('SEND_TRANSACTION_PREFLIGHT_FAILURE', 'accept', 0, { preflight: true })],
  [-32003, row('TRANSACTION_SIGNATURE_VERIFICATION_FAILURE', 'accept')],
  [-32004, row('BLOCK_NOT_AVAILABLE', 'retry', 1, { missing: 'newer' })],
  [-32005, row('NODE_UNHEALTHY', 'retry', 4, { behind: true })],
  [-32006, row('TRANSACTION_PRECOMPILE_VERIFICATION_FAILURE', 'accept')],
  [-32007, row('SLOT_SKIPPED', 'confirm', 0, { missing: 'older' })],
  [-32008, row('NO_SNAPSHOT', 'retry', 2)],
  [-32009, row('LONG_TERM_STORAGE_SLOT_SKIPPED', 'confirm', 0, { missing: 'older' })],
  [-32010, row('KEY_EXCLUDED_FROM_SECONDARY_INDEX', 'retry', 2, { missing: 'method' })],
  [-32011, row('TRANSACTION_HISTORY_NOT_AVAILABLE', 'retry', 2, { missing: 'method' })],
  [-32012, row('SCAN_ERROR', 'retry', 2)],
  [-32013, row('TRANSACTION_SIGNATURE_LEN_MISMATCH', 'accept')],
  [-32014, row('BLOCK_STATUS_NOT_AVAILABLE_YET', 'retry', 1, { missing: 'newer' })],
  [-32015, row('UNSUPPORTED_TRANSACTION_VERSION', 'accept')],
  [-32016, row('MIN_CONTEXT_SLOT_NOT_REACHED', 'retry', 1)],
  [-32017, row('EPOCH_REWARDS_PERIOD_ACTIVE', 'accept')],
  [-32018, row('SLOT_NOT_EPOCH_BOUNDARY', 'confirm', 0)],
  [-32019, row('LONG_TERM_STORAGE_UNREACHABLE', 'retry', 2)],
  [-32020, row('FILTER_TRANSACTION_NOT_FOUND', 'confirm', 0)],
  [-32021, row('NO_SLOT_HISTORY', 'accept')],
  [-32065, row('NODE_WITHOUT_METHOD', 'retry', RANK_LEAST_INFORMATIVE,
    { standard: false, didNothing: true, missing: 'method' })],
  [-32429, row('THROTTLED', 'throttled', RANK_LEAST_INFORMATIVE, { standard: false })],
  [429, row('THROTTLED', 'throttled', RANK_LEAST_INFORMATIVE, { standard: false })],
  // The gateway sends only valid requests. A node without a faucet returns this for requestAirdrop.
  [-32600, row('INVALID_REQUEST', 'retry', RANK_LEAST_INFORMATIVE,
    { unreadable: true, didNothing: true })],
  [-32601, row('METHOD_NOT_FOUND', 'retry', RANK_LEAST_INFORMATIVE, { didNothing: true, missing: 'method' })],
  [-32602, row('INVALID_PARAMS', 'accept')],
  [-32603, row('INTERNAL_ERROR', 'retry', 3, { mayHaveActed: true })],
  [-32700, row('PARSE_ERROR', 'accept', RANK_LEAST_INFORMATIVE, { unreadable: true })],
]);

const unknownError: NodeErrorRow = row('UNKNOWN', 'accept', RANK_LEAST_INFORMATIVE, { standard: false });

export const nodeErrorRow = (code: number): NodeErrorRow => rows.get(code) ?? unknownError;
