import type { LogEntryJson } from '../../../../src/control/api/contract/logs.ts';
import type { UsageStatus } from '../../../../src/gateway/metering/usage-status.ts';
import { outcomeNames, outcomes } from '../../outcomes.ts';

export const logFields = [
  'method',
  'status',
  'product',
  'rpcCode',
  'minMs',
  'address',
  'entry',
  'live',
] as const;
export type LogField = (typeof logFields)[number];
export type LogFields = Readonly<Partial<Record<LogField, string>>>;

export const productTitles: Readonly<Record<LogEntryJson['product'], string>> = {
  rpc: 'RPC',
  grpc: 'gRPC',
  fs: 'Shreds',
};

export function queryOf(
  { method, status, product, rpcCode, minMs, address }: LogFields,
  key: string | undefined,
) {
  return {
    key,
    method,
    status: outcomeNames.find((one): one is UsageStatus => one === status),
    product: (Object.keys(productTitles) as LogEntryJson['product'][]).find((one) => one === product),
    rpcCode,
    minMs,
    address,
  };
}

const labels = {
  method: 'method',
  status: 'outcome',
  product: 'product',
  rpcCode: 'code',
  minMs: 'latency ≥',
  address: 'from',
} as const satisfies Partial<Record<LogField, string>>;

export function chipsOf(fields: LogFields) {
  return (Object.keys(labels) as (keyof typeof labels)[]).flatMap((id) => {
    const value = fields[id];
    if (value === undefined) return [];
    return [{ id, label: labels[id], value: displayValue(id, value) }];
  });
}

function displayValue(id: keyof typeof labels, value: string): string {
  if (id === 'minMs') return `${value} ms`;
  if (id === 'status') return outcomes[value as UsageStatus]?.label ?? value;
  return value;
}
