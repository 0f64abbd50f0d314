import { randomBytes } from 'node:crypto';
import type { RequestStep, TraceLink } from '../../protocol/request-trace.ts';
import type { RequestEntry } from './request-log.ts';

/**
 * Requests as spans of OpenTelemetry in OTLP's JSON: ids in hex, times as decimal text in nanoseconds, whole numbers as
 * text. Source: opentelemetry-proto, trace.proto, and "OTLP/HTTP", "JSON Protobuf Encoding".
 */

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;

type Attribute = Readonly<{ key: string; value: Readonly<{ stringValue: string } | { intValue: string }> }>;

export type OtlpSpan = Readonly<{
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

/** Leaves out what is null. */
const attributes = (values: Readonly<Record<string, string | number | null>>): Attribute[] =>
  Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [attribute(key, value)]));

/** @param ms - from `atMs` on. */
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

/** The span of a request, and one for each step of its way. */
export function spansOf(entry: RequestEntry, { traceId, parentId }: TraceLink): OtlpSpan[] {
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

/** What is posted: spans under what they come from. */
export const exportRequest = (
  spans: readonly OtlpSpan[],
  resource: Readonly<Record<string, string>>,
): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(resource) },
      scopeSpans: [{ scope: { name: 'solway' }, spans }],
    },
  ],
});
