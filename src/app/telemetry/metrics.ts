import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MetricsText } from '../../base/text/metrics-text.ts';
import type { LiveConnections } from '../../gateway/telemetry/live-connections.ts';
import { latencyBoundsSeconds, type RequestCounters } from '../../gateway/telemetry/request-counters.ts';
import type { NodeStatus } from '../../upstream/node-status.ts';
import { PROGRAM_VERSION } from '../program-version.ts';
import { writeUpstreamMetrics } from './upstream-metrics.ts';

export type ServerFacts = Readonly<{
  requestsInFlight: () => number;
  /** Connections refused because of a limit on their client address, by listener. */
  connectionsRefused: () => Readonly<Record<string, number>>;
}>;

export type MetricSources = ServerFacts &
  Readonly<{
    counters: RequestCounters;
    connections: LiveConnections;
    nodes: () => readonly NodeStatus[];
    isStoreUp: () => boolean;
    waiting: Readonly<Record<string, () => number>>;
    /** Counts of cacheable calls by outcome. `cacheUsage` has the current cache sizes by name. */
    cacheOutcomes: Readonly<Record<string, () => number>>;
    cacheUsage: Readonly<Record<string, () => number>>;
    dropped: Readonly<Record<string, () => number>>;
  }>;

type EventLoopDelay = ReturnType<typeof monitorEventLoopDelay>;

const STARTED_SECONDS = Date.now() / 1_000 - process.uptime();

function processMetrics(text: MetricsText, delay: EventLoopDelay): void {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const p99 = delay.percentile(99);
  const delaySeconds = Number.isFinite(p99) ? p99 / 1e9 : 0;
  const started = 'Start time of the process in Unix seconds.';
  const delayHelp = '99th percentile of the event loop delay since the last scrape.';
  text
    .family('solway_build_info', 'gauge', 'Version of the running program.')
    .sample('solway_build_info', 1, { version: PROGRAM_VERSION })
    .single('process_start_time_seconds', 'gauge', started, STARTED_SECONDS)
    .single('process_cpu_seconds_total', 'counter', 'CPU time used.', (user + system) / 1e6)
    .single('process_resident_memory_bytes', 'gauge', 'Resident memory of the process.', rss)
    .single('solway_heap_used_bytes', 'gauge', 'Heap memory in use.', heapUsed)
    .single('solway_external_bytes', 'gauge', 'Memory of buffers outside the heap.', external)
    .single('solway_event_loop_delay_seconds', 'gauge', delayHelp, delaySeconds);
  delay.reset();
}

function requestMetrics(text: MetricsText, { products }: RequestCounters): void {
  const all = Object.entries(products);
  text.family('solway_requests_total', 'counter', 'Requests by product and status.');
  for (const [product, { requests }] of all) {
    for (const [status, count] of Object.entries(requests)) {
      text.sample('solway_requests_total', count, { product, status });
    }
  }
  const duration = 'solway_request_duration_seconds';
  text.family(duration, 'histogram', 'Time from the arrival of a request to its response.');
  for (const [product, { latency, latencySeconds }] of all) {
    text.histogram(duration, { product }, latencyBoundsSeconds, latency, latencySeconds);
  }
  const totals = [
    ['solway_received_bytes_total', 'Request bytes received.', 'bytesIn'],
    ['solway_sent_bytes_total', 'Response bytes sent.', 'bytesOut'],
    ['solway_messages_total', 'Notifications and stream messages sent.', 'messages'],
    ['solway_message_bytes_total', 'Bytes of notifications and stream messages.', 'messageBytes'],
  ] as const;
  for (const [name, help, member] of totals) {
    text.family(name, 'counter', help);
    for (const [product, counts] of all) text.sample(name, counts[member], { product });
  }
}

/** Writes only methods that were called, with the statuses that occurred. */
function methodMetrics(text: MetricsText, { methods }: RequestCounters): void {
  const requests = 'solway_method_requests_total';
  text.family(requests, 'counter', 'Requests by method and status.');
  for (const [method, counts] of methods)
    for (const [status, count] of Object.entries(counts.requests))
      if (count > 0) text.sample(requests, count, { method, status });
  const duration = 'solway_method_duration_seconds';
  text.family(duration, 'histogram', 'Request duration by method.');
  for (const [method, { latency, latencySeconds }] of methods)
    text.histogram(duration, { method }, latencyBoundsSeconds, latency, latencySeconds);
}

/** Identifies keys by public id. `other` counts keys beyond `metrics.keys_max` and calls without a known key. */
function keyMetrics(text: MetricsText, counters: RequestCounters): void {
  const all = [...counters.keys, ['other', counters.otherKeys] as const];
  const requests = 'solway_key_requests_total';
  text.family(requests, 'counter', 'Requests by key; "other" are keys that are not counted separately.');
  for (const [key, { ok, failed }] of all) {
    text.sample(requests, ok, { key, outcome: 'ok' }).sample(requests, failed, { key, outcome: 'error' });
  }
  const messages = 'solway_key_messages_total';
  text.family(messages, 'counter', 'Notifications and stream messages by key.');
  for (const [key, count] of all) text.sample(messages, count.messages, { key });
  const bytes = 'solway_key_sent_bytes_total';
  text.family(bytes, 'counter', 'Bytes sent by key.');
  for (const [key, { bytesOut }] of all) text.sample(bytes, bytesOut, { key });
}

function connectionMetrics(text: MetricsText, connections: LiveConnections): void {
  const kinds = (['websocket', 'grpc'] as const).map((kind) => [kind, connections.totalOf(kind)] as const);
  const gauges = [
    ['solway_connections', 'Open WebSockets and gRPC streams.', 'open'],
    ['solway_queued_messages', 'Messages queued for clients.', 'queuedMessages'],
    ['solway_queued_bytes', 'Bytes queued for clients.', 'queuedBytes'],
  ] as const;
  for (const [name, help, member] of gauges) {
    text.family(name, 'gauge', help);
    for (const [kind, totals] of kinds) text.sample(name, totals[member], { kind });
  }
  const help = 'Connections closed because the client read too slowly.';
  text.single('solway_connections_lagged_total', 'counter', help, connections.lagged);
}

function render(sources: MetricSources, delay: EventLoopDelay): string {
  const { counters, connections, nodes, isStoreUp, requestsInFlight, waiting, dropped } = sources;
  const { connectionsRefused } = sources;
  const text = new MetricsText();
  processMetrics(text, delay);
  requestMetrics(text, counters);
  methodMetrics(text, counters);
  keyMetrics(text, counters);
  connectionMetrics(text, connections);
  const refused = 'solway_connections_refused_total';
  const refusedHelp = 'Connections refused: the address has too many, or is blocked for flooding.';
  text.family(refused, 'counter', refusedHelp);
  for (const [listener, count] of Object.entries(connectionsRefused()))
    text.sample(refused, count, { listener });
  writeUpstreamMetrics(text, nodes());
  text
    .single('solway_http_in_flight', 'gauge', 'HTTP requests in progress.', requestsInFlight())
    .single('solway_store_up', 'gauge', 'Whether the database responds.', Number(isStoreUp()));
  const { cacheOutcomes, cacheUsage } = sources;
  const lists = [
    ['solway_answers_total', 'counter', 'Cacheable calls by outcome.', cacheOutcomes],
    ['solway_cache', 'gauge', 'Current size of response caches and coalesced calls.', cacheUsage],
    ['solway_waiting', 'gauge', 'Entries waiting to be written or sent.', waiting],
    ['solway_dropped_total', 'counter', 'Entries dropped because a queue was full.', dropped],
  ] as const;
  for (const [name, kind, help, values] of lists) {
    text.family(name, kind, help);
    for (const [what, read] of Object.entries(values)) text.sample(name, read(), { what });
  }
  return text.toString();
}

/** `render` returns the current metrics. They contain key ids and node names, never a secret. */
export function openMetrics(sources: MetricSources) {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return { render: () => render(sources, delay), close: () => delay.disable() };
}
