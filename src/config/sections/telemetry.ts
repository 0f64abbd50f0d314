import { heartbeatOptions as presence } from '../../control/requests/gateway-heartbeat.ts';
import { tailLimits as tail } from '../../control/requests/log-tails.ts';
import { requestWriterOptions as writer } from '../../control/requests/request-writer.ts';
import { otlpOptions as otlp } from '../../gateway/telemetry/otlp-exporter.ts';
import { requestCounterOptions } from '../../gateway/telemetry/request-counters.ts';
import { requestLogOptions as log } from '../../gateway/telemetry/request-log.ts';
import { anything, HOUR_MS, headers, httpUrl, onOff, section, share, whole } from '../field-types.ts';

/** The sections of what the service tells of itself. */

/** `[request_log]`: which requests are kept, and how long. */
export const requestLogSection = section({
  per_second: whole(0, 100_000).default(log.perSecond),
  share: share.default(log.share),
  late_max: whole(0, 100_000).default(log.lateMax),
  slow_ms: whole(1, HOUR_MS).default(log.slowMs),
  entries_max: whole(1, 1_000_000).default(log.entriesMax),
  body_max_bytes: whole(0, 65_536).default(log.bodyMaxBytes),
  steps_max: whole(1, 1_000).default(log.stepsMax),
  flush_interval_ms: whole(50, 60_000).default(writer.flushIntervalMs),
  kept_hours: whole(1, 8_760).default(writer.keptHours),
  customer_rows_max: whole(1, 100_000_000).default(writer.customerRowsMax),
  rows_max: whole(1, 1_000_000_000).default(writer.rowsMax),
  tails_max: whole(0, 10_000).default(tail.tailsMax),
  customer_tails_max: whole(0, 10_000).default(tail.customerTailsMax),
  follower_tails_max: whole(0, 10_000).default(tail.followerTailsMax),
  operator_tails_kept: whole(0, 10_000).default(tail.operatorTailsKept),
});

/** `[gateways]`: what the gateways on one database tell each other. */
export const gatewaysSection = section({
  heartbeat_ms: whole(100, 60_000).default(presence.heartbeatMs),
  look_interval_ms: whole(50, 1_000).default(presence.lookIntervalMs),
  gone_after_ms: whole(500, HOUR_MS).default(presence.goneAfterMs),
  connections_shown_max: whole(0, 100_000).default(presence.connectionsMax),
});

/** `[metrics]`: what Prometheus reads. */
export const metricsSection = section({
  open: onOff.default(false),
  token: anything.nullable().default(null),
  keys_max: whole(0, 100_000).default(requestCounterOptions.keysMax),
});

/** `[telemetry]`: where spans go. */
export const telemetrySection = section({
  otlp_url: httpUrl.nullable().default(null),
  headers: headers.default({}),
  share: share.default(0.01),
  flush_interval_ms: whole(50, 60_000).default(otlp.flushIntervalMs),
  batch_max: whole(1, 100_000).default(otlp.batchMax),
  queue_max: whole(1, 1_000_000).default(otlp.queueMax),
  timeout_ms: whole(50, 60_000).default(otlp.timeoutMs),
});
