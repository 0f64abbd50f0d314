import { randomBytes } from 'node:crypto';
import type { Logger } from '../../base/log.ts';
import type { RequestStep, TraceLink } from '../../protocol/request-trace.ts';
import type { RequestEntry, SpanSink } from './request-log.ts';

export const otlpOptions = {
  flushIntervalMs: 1_000,
  /** Spans per export request. */
  batchMax: 512,
  /** Maximum number of queued spans; further spans are dropped. */
  queueMax: 4_096,
  timeoutMs: 5_000,
};

export type OtlpOptions = Readonly<typeof otlpOptions>;

export type OtlpParts = Readonly<{
  /** URL of the collector; `/v1/traces` is appended if it has no path. */
  url: string;
  /** Request headers, which may hold secrets. */
  headers: Readonly<Record<string, string>>;
  resource: Readonly<Record<string, string>>;
  log: Logger;
}>;

/** Source: OTLP/HTTP, "OTLP/HTTP Request". */
export function tracesUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.pathname === '/') parsed.pathname = '/v1/traces';
  return parsed.href;
}

/** Exports spans over OTLP/HTTP as JSON. If the collector is unavailable, spans are dropped and requests continue. */
export class OtlpExporter implements SpanSink {
  readonly #parts: OtlpParts;
  readonly #url: string;
  readonly #options: OtlpOptions;
  #waiting: OtlpSpan[] = [];
  /** Spans dropped because the queue was full or the collector unavailable. */
  dropped = 0;
  #isFailing = false;
  #flushing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: OtlpParts, options: Partial<OtlpOptions> = {}) {
    this.#parts = parts;
    this.#url = tracesUrl(parts.url);
    this.#options = { ...otlpOptions, ...options };
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.flush(), this.#options.flushIntervalMs).unref();
  }

  add(entry: RequestEntry, link: TraceLink): void {
    const spans = spansOf(entry, link);
    if (this.#waiting.length + spans.length > this.#options.queueMax) this.dropped += spans.length;
    else this.#waiting.push(...spans);
  }

  /** Never rejects. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#flushing;
    await this.flush();
  }

  async #flush(): Promise<void> {
    const spans = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < spans.length; from += this.#options.batchMax) {
      const batch = spans.slice(from, from + this.#options.batchMax);
      const isAccepted = await this.#send(batch);
      if (isAccepted) continue;
      // A retry would only displace newer spans.
      this.dropped += spans.length - from;
      break;
    }
  }

  async #send(batch: readonly OtlpSpan[]): Promise<boolean> {
    const { headers, resource } = this.#parts;
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(exportRequest(batch, resource)),
        redirect: 'error',
        signal: AbortSignal.timeout(this.#options.timeoutMs),
      });
      await response.body?.cancel();
      this.#reportState(response.ok ? null : `status ${response.status}`);
      return response.ok;
    } catch {
      // The error may contain the URL, which may hold a secret.
      this.#reportState('unreachable or timed out');
      return false;
    }
  }

  #reportState(problem: string | null): void {
    const isFailing = problem !== null;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    if (isFailing) this.#parts.log.warn({ reason: problem }, 'Trace export failed; dropping spans');
    else this.#parts.log.info('Trace export recovered');
  }
}

/**
 * Spans in the JSON encoding of OTLP: ids are hex strings; integers, and times in nanoseconds, are decimal strings.
 * Sources: opentelemetry-proto, trace.proto; OTLP specification, "JSON Protobuf Encoding".
 */

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

type Attribute = Readonly<{ key: string; value: Readonly<{ stringValue: string } | { intValue: string }> }>;

type OtlpSpan = Readonly<{
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: readonly Attribute[];
  status: Readonly<{ code?: number; message?: string }>;
}>;

const attribute = (key: string, value: string | number): Attribute => ({
  key,
  value: typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value },
});

const attributes = (values: Readonly<Record<string, string | number | null>>): Attribute[] =>
  Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [attribute(key, value)]));

/** @param ms - milliseconds after `atMs`. */
const nanos = (atMs: number, ms: number): string =>
  String(BigInt(Math.round(atMs)) * 1_000_000n + BigInt(Math.round(ms * 1_000_000)));

const spanId = (): string => randomBytes(8).toString('hex');

function stepSpan(
  { at, network }: RequestEntry,
  traceId: string,
  parentSpanId: string,
  step: RequestStep,
): OtlpSpan {
  const { name, node, startMs, endMs, outcome } = step;
  return {
    traceId,
    spanId: spanId(),
    parentSpanId,
    name: node === null ? name : `${name} ${node}`,
    kind: node === null ? KINDS.internal : KINDS.client,
    startTimeUnixNano: nanos(at, startMs),
    endTimeUnixNano: nanos(at, endMs),
    attributes: attributes({ 'server.address': node, 'solway.network': network, 'solway.outcome': outcome }),
    status: outcome === 'ok' ? {} : { code: STATUS_ERROR, message: outcome },
  };
}

function spansOf(entry: RequestEntry, { traceId, parentId }: TraceLink): OtlpSpan[] {
  const { at, method, micros, http, rpcCode, failure, status } = entry;
  const id = spanId();
  const own: OtlpSpan = {
    traceId,
    spanId: id,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    name: method === '' ? 'authenticate' : method,
    kind: KINDS.server,
    startTimeUnixNano: nanos(at, 0),
    endTimeUnixNano: nanos(at, micros / 1_000),
    attributes: attributes({
      'rpc.method': method === '' ? null : method,
      'http.response.status_code': http === 0 ? null : http,
      'rpc.jsonrpc.error_code': rpcCode === 0 ? null : rpcCode,
      'client.address': entry.address === '' ? null : entry.address,
      'solway.key_id': entry.keyId,
      'solway.product': entry.product,
      'solway.network': entry.network,
      'solway.status': status,
      'solway.failure': failure,
    }),
    status: status === 'ok' ? {} : { code: STATUS_ERROR, message: failure ?? status },
  };
  return [own, ...entry.steps.map((step) => stepSpan(entry, traceId, id, step))];
}

const exportRequest = (spans: readonly OtlpSpan[], resource: Readonly<Record<string, string>>): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(resource) },
      scopeSpans: [{ scope: { name: 'solway' }, spans }],
    },
  ],
});
