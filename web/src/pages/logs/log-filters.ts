import type { LogEntryJson } from '../../../../src/control/api/contract/logs.ts';
import type { UsageStatus } from '../../../../src/gateway/metering/usage-status.ts';
import { outcomeNames, outcomes } from '../../outcomes.ts';
import { productNames } from '../../product-names.ts';

export const logFields = [
  'search',
  'method',
  'status',
  'product',
  'code',
  'minMs',
  'address',
  'entry',
  'live',
] as const;
export type LogField = (typeof logFields)[number];
export type LogFields = Readonly<Partial<Record<LogField, string>>>;

/** An HTML `pattern` must match the whole value. */
export const valuePatterns: Readonly<Partial<Record<LogField, string>>> = {
  search: '.{1,256}',
  code: '-?[A-Za-z0-9_]{1,63}',
  minMs: '[0-9]{1,7}',
};

/** Leaves out what the API would reject, such as an invalid number in an edited URL. */
export function validFilters(fields: LogFields): LogFields {
  const isValid = ([name, value]: [string, string]): boolean => {
    if (name === 'status') return Object.hasOwn(outcomes, value);
    if (name === 'product') return Object.hasOwn(productNames, value);
    const pattern = valuePatterns[name as LogField];
    return pattern === undefined || new RegExp(`^(?:${pattern})$`).test(value);
  };
  return Object.fromEntries(Object.entries(fields).filter(isValid));
}

export function queryOf(
  { search, method, status, product, code, minMs, address }: LogFields,
  key: string | undefined,
) {
  return {
    key,
    search,
    method,
    status: outcomeNames.find((one): one is UsageStatus => one === status),
    product: (Object.keys(productNames) as LogEntryJson['product'][]).find((one) => one === product),
    code,
    minMs,
    address,
  };
}

const labels = {
  search: 'search',
  method: 'method',
  status: 'outcome',
  product: 'product',
  code: 'code',
  minMs: 'latency ≥',
  address: 'IP address',
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
  if (id === 'product') return productNames[value as LogEntryJson['product']];
  return value;
}
