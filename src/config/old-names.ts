type Table = { [name: string]: unknown };

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** New names of options that were renamed. */
const renamed: Readonly<Record<string, string>> = {
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

/** Names of options that became fixed limits, by section. */
const removed: Readonly<Record<string, string>> = {
  server: `
    batch_concurrency batch_answers_max_bytes headers_max_bytes headers_timeout_ms own_time_max_ms
    raw_head_max_bytes raw_body_max_bytes idle_timeout_ms`,
  upstream_pool: `
    attempts_max send_attempt_timeout_ms connect_timeout_ms idle_timeout_ms in_flight_max
    long_answer_from_bytes long_answer_stall_ms long_answers_max circuit_failures_max circuit_open_ms
    rest_ms rest_max_ms rest_wait_max_ms cordon_ms backoff_ms reconnect_max_ms poll_interval_ms
    poll_timeout_ms stall_ms slots_per_second_max shreds_interval_ms history_interval_ms sticky_ms
    window_ms exclusion_attempts_min failed_share_max throttled_share_max slow_ms exclusion_max_ms
    copy_share copies_max readmit_answers_min readmit_polls_min hedge_burst hedge_quantile hedge_min_ms
    hedge_max_ms capability_ms`,
  cache: `
    slot_ms epoch_ms final_ms heads_fresh_ms entries_max answer_max_bytes params_max_bytes keys_max
    keys_max_bytes calls_max waiting_max join_max_ms redis_wait_ms redis_rest_ms redis_pending_max_bytes
    redis_answer_max_bytes`,
  sessions: `
    sessions_max key_sessions_max wait_ms`,
  sending: `
    under_way_max callers_max attempt_timeout_ms rebroadcasts_at_a_time pending_max_bytes pending_max_ms
    status_poll_ms expiry_poll_ms calls_at_a_time accepted_ms accepted_max`,
  websocket: `
    calls_in_flight_max calls_waiting_max calls_waiting_max_bytes all_calls_in_flight_max
    ping_interval_ms pong_timeout_ms close_timeout_ms look_interval_ms key_addresses_max addresses_max
    topics_max topics_idle_max topic_grace_ms topic_open_timeout_ms topic_held_max`,
  feeds: `
    handshake_timeout_ms message_max_bytes request_max_bytes ping_interval_ms pong_timeout_ms
    ack_timeout_ms open_timeout_ms stall_ms lag_max_slots reconnect_ms reconnect_max_ms moves_max
    gap_timeout_ms gap_blocks_max gap_margin_slots gap_fills_max held_max seen_max blocks_kept
    block_reads_max follower_lag_max_slots`,
  geyser: `
    connect_timeout_ms ping_interval_ms pong_timeout_ms message_max_bytes window_bytes stall_ms
    reconnect_ms reconnect_max_ms request_delay_ms request_delay_max_ms ack_timeout_ms open_timeout_ms
    program_filters_max failures_max down_max_ms away_ms replay_slots_max seen_slots_max held_max
    mints_max mint_max_age_ms mint_wait_ms mint_retry_ms mint_fetches_max`,
  grpc: `
    streams_per_connection_max keyless_streams_max keyless_streams_per_connection_max
    keyless_stream_max_ms unary_in_flight_max header_list_max_bytes message_max_bytes
    small_message_max_bytes unpacked_ratio_max unpacked_free_bytes requests_max_bytes
    requests_per_connection_max_bytes queue_max_messages join_ms ping_interval_ms keepalive_interval_ms
    keepalive_timeout_ms handshake_timeout_ms first_call_timeout_ms idle_timeout_ms request_timeout_ms
    end_timeout_ms control_frames_per_second_max cancels_burst_max cancels_per_second_max offenders_max
    window_bytes compression_least_bytes compression_max_bytes`,
  replay: `
    waiting_slots_max ahead_bytes pause_ms replays_max ready_timeout_ms`,
  blocks: `
    turn_ms waiting_max behind_max_messages behind_max_bytes`,
  geyser_source: `
    connect_timeout_ms ping_interval_ms pong_timeout_ms message_max_bytes window_bytes stall_ms
    reconnect_ms reconnect_max_ms request_delay_ms ack_timeout_ms open_timeout_ms replay_margin_slots
    replay_slots_max backfills_max backfill_timeout_ms fill_timeout_ms fill_slots_max slots_max
    slot_updates_max waiting_accounts_max`,
  shreds: `
    receive_buffer_bytes slots_tracked seen_per_slot_max slots_max shreds_per_slot_max
    fec_sets_per_slot_max bytes_max slots_ahead_max slots_behind_max stale_ms held_bytes_max
    rejected_max forged_per_second_max unjudged_bytes_max connect_timeout_ms ping_interval_ms
    pong_timeout_ms message_max_bytes window_bytes stall_ms reconnect_ms reconnect_max_ms tables_max
    tables_waiting_max tables_gather_ms table_reads_max table_absent_ms schedule_interval_ms
    schedule_retry_ms schedule_retry_max_ms`,
  rest: `
    calls_in_flight_max key_calls_in_flight_max answer_max_bytes answers_max_bytes upload_timeout_ms
    families_max body_max_bytes bodies_max_bytes`,
  off_chain: `
    timeout_ms try_timeout_ms tries_max connect_timeout_ms resolve_timeout_ms idle_timeout_ms
    redirects_max uri_max_length uris_max document_max_bytes reading_max_bytes depth_max values_max
    headers_max_bytes in_flight_max per_host_max unproven_per_host_max queue_max per_host_queue_max
    unproven_per_host_queue_max hosts_max circuit_failures_max circuit_open_ms slow_ms absence_kept_ms
    failure_kept_ms disk_files_max disk_queue_max`,
  das_pool: `
    timeout_ms try_timeout_ms connect_timeout_ms answer_max_bytes connections_max in_flight_max`,
  confirmations: `
    wait_max_ms waiters_max poll_ms subscribed_poll_ms expiry_poll_ms calls_at_a_time`,
  storage: `
    files_max uploads_max uploads_per_owner_max uploads_waiting_max uploads_wait_ms`,
  uploads: `
    beside_max_bytes parts_max part_headers_max part_headers_max_bytes progress_ms progress_least_bytes`,
  ipfs: `
    progress_ms progress_least_bytes answer_max_ms`,
  kubo: `
    connect_timeout_ms exchange_max_ms silence_ms answer_max_bytes connections_max`,
  pinning: `
    connect_timeout_ms exchange_max_ms silence_ms answer_max_bytes connections_max poll_interval_ms
    polls_max retries_max watched_max`,
  semi_wallets: `
    derivations_max derivations_per_owner_max derivation_queue_max derivation_per_owner_queue_max
    wallets_max free_tries first_pause_ms pause_max_ms remember_ms remembered_max`,
  store: `
    connect_timeout_ms hangs_after_ms lock_wait_ms away_after_ms`,
  keys: `
    poll_interval_ms usage_flush_interval_ms usage_rows_max addresses_max`,
  accounts: `
    account_free_tries address_free_tries hashes_max hashes_waiting_max invitations_max tokens_max
    customers_per_user_max`,
  control_api: `
    body_max_bytes body_timeout_ms requests_max site_requests_max streams_max caller_streams_max
    heartbeat_ms recheck_ms`,
  shared: `
    sync_interval_ms connect_timeout_ms command_timeout_ms reconnect_max_ms presence_ms names_max`,
  quotas: `
    accounts_max read_interval_ms late_minutes recount_interval_ms first_recount_ms`,
  notices: `
    connect_timeout_ms resolve_timeout_ms url_max_length watch_interval_ms poll_interval_ms
    in_flight_max timeout_ms tries_max retry_ms retry_max_ms targets_max test_interval_ms`,
  mail: `
    timeout_ms in_flight_max`,
  request_log: `
    late_max entries_max steps_max flush_interval_ms customer_rows_max tails_max customer_tails_max
    follower_tails_max operator_tails_kept`,
  gateways: `
    heartbeat_ms look_interval_ms gone_after_ms connections_shown_max`,
  telemetry: `
    flush_interval_ms batch_max queue_max timeout_ms`,
};

const removedNames: ReadonlySet<string> = new Set(
  Object.entries(removed).flatMap(([section, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => `${section}.${name}`),
  ),
);

function messageFor(field: string): string | null {
  if (field === 'localnet.enabled')
    return 'is replaced by --dev: remove it, and use --dev for an embedded ledger';
  const name = Object.hasOwn(renamed, field) ? renamed[field] : undefined;
  if (name !== undefined) return `was renamed: write ${name} instead`;
  return removedNames.has(field) ? 'is no longer an option, its value is fixed: remove it' : null;
}

const isOldSection = (section: string): boolean =>
  Object.hasOwn(removed, section) || Object.keys(renamed).some((field) => field.startsWith(`${section}.`));

/**
 * Extracts option names of earlier versions from a file, so that each gets one error that names its
 * replacement.
 * @param isSection - whether a section of this name exists today.
 */
export function extractOldNames(
  written: Table,
  isSection: (name: string) => boolean,
): Readonly<{ raw: Table; problems: readonly Readonly<{ field: string; message: string }>[] }> {
  const problems: { field: string; message: string }[] = [];
  const isCurrent = (field: string): boolean => {
    const message = messageFor(field);
    if (message !== null) problems.push({ field, message });
    return message === null;
  };
  const sections = Object.entries(written).flatMap(([section, value]): [string, unknown][] => {
    if (!isTable(value)) return [[section, value]];
    const current = Object.entries(value).filter(([name]) => isCurrent(`${section}.${name}`));
    if (current.length > 0 || isSection(section) || !isOldSection(section))
      return [[section, Object.fromEntries(current)]];
    if (Object.keys(value).length === 0)
      problems.push({ field: section, message: 'is no longer a section: remove it' });
    return [];
  });
  return { raw: Object.fromEntries(sections), problems };
}
