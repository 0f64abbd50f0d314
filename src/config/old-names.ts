import { type Entry, snakeCase } from './option.ts';
import { isTable, type Table } from './table.ts';

/** New option names by old name. Exported for the test. */
export const renamed: Readonly<Record<string, string>> = {
  'server.answers_max_bytes': 'server.responses_max_bytes',
  'server.raw_door': 'server.fast_path',
  'upstream_pool.answer_max_bytes': 'upstream_pool.response_max_bytes',
  'upstream_pool.answers_max_bytes': 'upstream_pool.response_buffer_max_bytes',
  'upstream_pool.choice': 'upstream_pool.load_balancing',
  'upstream_pool.hedge_share': 'upstream_pool.hedge_ratio',
  'upstream_pool.ask_twice_for_null': 'upstream_pool.confirm_null_results',
  'sending.rebroadcast_ms': 'transactions.rebroadcast_interval_ms',
  'sending.pending_max': 'transactions.pending_max',
  'cache.heads': 'cache.slot_cache',
  'feeds.blocks_kept_bytes': 'feeds.block_cache_max_bytes',
  'geyser_source.demand': 'geyser.demand',
  'geyser_source.filters_max': 'geyser.filters_max',
  'geyser_source.addresses_max': 'geyser.addresses_max',
  'grpc.offender_ms': 'grpc.abuse_block_ms',
  'keys.wrong_keys_per_minute': 'keys.failed_auth_per_minute',
  'keys.wrong_keys_refused_ms': 'keys.failed_auth_block_ms',
  'keys.wrong_keys_exempt': 'keys.failed_auth_exempt',
  'request_log.share': 'request_log.sample_ratio',
  'request_log.kept_hours': 'request_log.retention_hours',
  'telemetry.share': 'telemetry.sample_ratio',
  'notices.kept_days': 'notices.retention_days',
  'mail.receiver_per_hour': 'mail.recipient_per_hour',
  'off_chain.document_kept_ms': 'off_chain.document_ttl_ms',
  'shared.gateways_least': 'shared.gateways_min',
};

/** Removed options by section, except those that are now fixed limits of the same name. */
const removed: Readonly<Record<string, readonly string[]>> = {
  server: ['batch_answers_max_bytes', 'own_time_max_ms', 'raw_head_max_bytes', 'raw_body_max_bytes'],
  upstream_pool: [
    'rest_ms',
    'rest_max_ms',
    'rest_wait_max_ms',
    'copy_share',
    'readmit_answers_min',
    ...['long_answers_max', 'copies_max', 'long_answer_from_bytes', 'long_answer_stall_ms', 'cordon_ms'],
    ...['exclusion_attempts_min', 'exclusion_max_ms'],
  ],
  request_log: ['late_max', 'operator_tails_kept', 'reach_ms'],
  confirmations: ['calls_at_a_time'],
  cache: ['heads_fresh_ms', 'redis_rest_ms'],
  sending: [
    ...['under_way_max', 'callers_max', 'attempt_timeout_ms', 'rebroadcasts_at_a_time', 'pending_max_bytes'],
    ...['pending_max_ms', 'status_poll_ms', 'expiry_poll_ms', 'calls_at_a_time', 'accepted_ms'],
    'accepted_max',
  ],
  websocket: ['look_interval_ms', 'topic_held_max'],
  feeds: ['moves_max', 'blocks_kept'],
  geyser: [
    ...['connect_timeout_ms', 'ping_interval_ms', 'pong_timeout_ms', 'message_max_bytes', 'window_bytes'],
    ...['stall_ms', 'reconnect_ms', 'reconnect_max_ms', 'request_delay_ms', 'request_delay_max_ms'],
    ...['ack_timeout_ms', 'open_timeout_ms', 'failures_max', 'down_max_ms', 'away_ms', 'replay_slots_max'],
  ],
  grpc: ['unpacked_ratio_max', 'unpacked_free_bytes', 'join_ms', 'compression_least_bytes'],
  replay: ['ahead_bytes', 'pause_ms', 'ready_timeout_ms'],
  blocks: ['turn_ms', 'waiting_max', 'behind_max_messages', 'behind_max_bytes'],
  shreds: ['forged_per_second_max', 'unjudged_bytes_max', 'held_bytes_max'],
  off_chain: ['absence_kept_ms', 'failure_kept_ms'],
  das_pool: ['answer_max_bytes'],
  uploads: ['beside_max_bytes', 'progress_least_bytes'],
  ipfs: ['progress_least_bytes', 'answer_max_ms'],
  semi_wallets: ['free_tries'],
  store: ['away_after_ms'],
  accounts: ['account_free_tries', 'address_free_tries', 'invitation_days'],
  gateways: ['look_interval_ms', 'connections_shown_max'],
};

type Entries = ReadonlyMap<string, Entry>;

/** Most removed options became fixed limits of the same name. If a limit is renamed, add its old name to `removed`. */
function isFixedLimit(entry: Entry | undefined, name: string): boolean {
  if (entry?.form !== 'section' || Object.hasOwn(entry.rows, name)) return false;
  return Object.keys(entry.limits).some((limit) => snakeCase(limit) === name);
}

function messageFor(entries: Entries, section: string, name: string): string | null {
  const field = `${section}.${name}`;
  if (field === 'localnet.enabled')
    return 'is replaced by --dev: remove it, and use --dev for an embedded ledger';
  if (Object.hasOwn(renamed, field)) return `was renamed: write ${renamed[field]} instead`;
  const isRemoved = Object.hasOwn(removed, section) && removed[section]?.includes(name);
  if (!isRemoved && !isFixedLimit(entries.get(section), name)) return null;
  return 'is not an option, its value is fixed: remove it';
}

/** Whether the section exists in this version or existed in an earlier version. */
const isOldSection = (entries: Entries, section: string): boolean =>
  entries.has(section) ||
  Object.hasOwn(removed, section) ||
  Object.keys(renamed).some((field) => field.startsWith(`${section}.`));

/**
 * Removes old option names and reports each as a problem.
 * @param entries - all sections, by name.
 * @param isSection - whether operators may write the section.
 */
export function extractOldNames(
  written: Table,
  entries: Entries,
  isSection: (name: string) => boolean,
): Readonly<{ raw: Table; problems: readonly Readonly<{ field: string; message: string }>[] }> {
  const problems: { field: string; message: string }[] = [];
  const isCurrent = (section: string, name: string): boolean => {
    const message = messageFor(entries, section, name);
    if (message !== null) problems.push({ field: `${section}.${name}`, message });
    return message === null;
  };
  const sections = Object.entries(written).flatMap(([section, value]): [string, unknown][] => {
    if (!isTable(value)) return [[section, value]];
    const current = Object.entries(value).filter(([name]) => isCurrent(section, name));
    if (current.length > 0 || isSection(section) || !isOldSection(entries, section))
      return [[section, Object.fromEntries(current)]];
    if (Object.keys(value).length === 0)
      problems.push({ field: section, message: 'is no longer a section: remove it' });
    return [];
  });
  return { raw: Object.fromEntries(sections), problems };
}
