import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MetricsText } from '../../base/text/metrics-text.ts';
import type { LiveConnections } from '../../gateway/telemetry/live-connections.ts';
import { latencyBounds, type RequestCounters } from '../../gateway/telemetry/request-counters.ts';
import type { NodeStatus } from '../../upstream/node-status.ts';
import { PROGRAM_VERSION } from '../program-version.ts';
import { writeUpstreamMetrics } from './upstream-metrics.ts';

/** Counters of the listeners. */
export type ServerFacts = Readonly<{
  requestsInFlight: () => number;
  /** Connections closed for limits of their address, by listener. */
  connectionsRefused: () => Readonly<Record<string, number>>;
}>;

export type MetricSources = ServerFacts &
  Readonly<{
    counters: RequestCounters;
    connections: LiveConnections;
    nodes: () => readonly NodeStatus[];
    isStoreUp: () => boolean;
    /** Entries that wait to be written or sent, by name. */
    waiting: Readonly<Record<string, () => number>>;
    /** Outcomes of cacheable calls, and current sizes of caches, by name. */
    cacheOutcomes: Readonly<Record<string, () => number>>;
    cacheUsage: Readonly<Record<string, () => number>>;
    /** Dropped entries, by name. */
    dropped: Readonly<Record<string, () => number>>;
  }>;

const STARTED_SECONDS = Date.now() / 1_000 - process.uptime();

function processMetrics(text: MetricsText, delay: ReturnType<typeof monitorEventLoopDelay>): void {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  text
    .family('solway_build_info', 'gauge', 'The version that runs.')
    .sample('solway_build_info', 1, { version: PROGRAM_VERSION })
    .single(
      'process_start_time_seconds',
      'gauge',
      'When the process began, in Unix seconds.',
      STARTED_SECONDS,
    )
    .single('process_cpu_seconds_total', 'counter', 'Processor time that was used.', (user + system) / 1e6)
    .single('process_resident_memory_bytes', 'gauge', 'Memory that the process has.', rss)
    .single('solway_heap_used_bytes', 'gauge', 'Memory that objects take.', heapUsed)
    .single('solway_external_bytes', 'gauge', 'Memory that buffers take.', external)
    .single(
      'solway_event_loop_delay_seconds',
      'gauge',
      'How late the event loop was at its 99th percentile since the last look.',
      Number.isFinite(delay.percentile(99)) ? delay.percentile(99) / 1e9 : 0,
    );
  delay.reset();
}

function requestMetrics(text: MetricsText, { products }: RequestCounters): void {
  const all = Object.entries(products);
  text.family('solway_requests_total', 'counter', 'Requests by the product of their key and how they ended.');
  for (const [product, { requests }] of all) {
    for (const [status, count] of Object.entries(requests)) {
      text.sample('solway_requests_total', count, { product, status });
    }
  }
  const duration = 'solway_request_duration_seconds';
  text.family(duration, 'histogram', 'From the arrival of a request to its answer.');
  for (const [product, { latency, latencySeconds }] of all) {
    text.histogram(duration, { product }, latencyBounds, latency, latencySeconds);
  }
  const totals = [
    ['solway_received_bytes_total', 'Bytes of requests.', 'bytesIn'],
    ['solway_sent_bytes_total', 'Bytes of answers.', 'bytesOut'],
    ['solway_messages_total', 'Notifications and messages of streams.', 'messages'],
    ['solway_message_bytes_total', 'Bytes of those.', 'messageBytes'],
  ] as const;
  for (const [name, help, member] of totals) {
    text.family(name, 'counter', help);
    for (const [product, counts] of all) text.sample(name, counts[member], { product });
  }
}

/** Keys by their public ids; those beyond `metrics.keys_max` and calls without a good key are `other`. */
function keyMetrics(text: MetricsText, counters: RequestCounters): void {
  const all = [...counters.keys, ['other', counters.otherKeys] as const];
  const requests = 'solway_key_requests_total';
  text.family(requests, 'counter', 'Requests of each key; "other" are all keys that are not counted each.');
  for (const [key, { ok, failed }] of all) {
    text.sample(requests, ok, { key, outcome: 'ok' }).sample(requests, failed, { key, outcome: 'error' });
  }
  const messages = 'solway_key_messages_total';
  text.family(messages, 'counter', 'Notifications and messages of streams of each key.');
  for (const [key, count] of all) text.sample(messages, count.messages, { key });
  const bytes = 'solway_key_sent_bytes_total';
  text.family(bytes, 'counter', 'Bytes that were sent to each key.');
  for (const [key, { bytesOut }] of all) text.sample(bytes, bytesOut, { key });
}

function connectionMetrics(text: MetricsText, connections: LiveConnections): void {
  const kinds = (['websocket', 'grpc'] as const).map((kind) => [kind, connections.totalOf(kind)] as const);
  const gauges = [
    ['solway_connections', 'Open WebSockets and gRPC streams.', 'open'],
    ['solway_queued_messages', 'Messages that wait for clients to read.', 'queuedMessages'],
    ['solway_queued_bytes', 'Bytes that wait for clients to read.', 'queuedBytes'],
  ] as const;
  for (const [name, help, member] of gauges) {
    text.family(name, 'gauge', help);
    for (const [kind, totals] of kinds) text.sample(name, totals[member], { kind });
  }
  const help = 'Connections that were cut because their clients read too slowly.';
  text.single('solway_connections_lagged_total', 'counter', help, connections.lagged);
}

function refusalMetrics(text: MetricsText, refused: Readonly<Record<string, number>>): void {
  const name = 'solway_connections_refused_total';
  const help = 'Connections that were closed at once: their address has too many, or was cut for a flood.';
  text.family(name, 'counter', help);
  for (const [door, count] of Object.entries(refused)) text.sample(name, count, { door });
}

function listMetrics(
  text: MetricsText,
  name: string,
  kind: 'counter' | 'gauge',
  help: string,
  values: Readonly<Record<string, () => number>>,
): void {
  text.family(name, kind, help);
  for (const [what, read] of Object.entries(values)) text.sample(name, read(), { what });
}

/** Writes metrics as they are at the moment. They hold ids of keys and names of nodes, never a secret. */
export class Metrics {
  readonly #sources: MetricSources;
  readonly #delay = monitorEventLoopDelay({ resolution: 20 });

  constructor(sources: MetricSources) {
    this.#sources = sources;
    this.#delay.enable();
  }

  /** Source: the text format of Prometheus, version 0.0.4. */
  render(): string {
    const { counters, connections, nodes, isStoreUp, requestsInFlight, waiting, dropped } = this.#sources;
    const { connectionsRefused } = this.#sources;
    const text = new MetricsText();
    processMetrics(text, this.#delay);
    requestMetrics(text, counters);
    keyMetrics(text, counters);
    connectionMetrics(text, connections);
    refusalMetrics(text, connectionsRefused());
    writeUpstreamMetrics(text, nodes());
    text
      .single('solway_http_in_flight', 'gauge', 'HTTP requests that are being answered.', requestsInFlight())
      .single('solway_store_up', 'gauge', 'Whether the database answers.', Number(isStoreUp()));
    const { cacheOutcomes, cacheUsage } = this.#sources;
    listMetrics(
      text,
      'solway_answers_total',
      'counter',
      'Calls that nodes may be spared, by what came of it.',
      cacheOutcomes,
    );
    listMetrics(
      text,
      'solway_cache',
      'gauge',
      'What is held of answers, and of calls that are shared.',
      cacheUsage,
    );
    listMetrics(text, 'solway_waiting', 'gauge', 'What waits to be written or sent.', waiting);
    listMetrics(text, 'solway_dropped_total', 'counter', 'What was given up for want of room.', dropped);
    return text.toString();
  }

  close(): void {
    this.#delay.disable();
  }
}
