import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';

export const dimensions = ['product', 'key', 'method', 'status'] as const;
export type Dimension = (typeof dimensions)[number];

export const dimensionTitles: Readonly<Record<Dimension, string>> = {
  product: 'Product',
  key: 'API key',
  method: 'Method',
  status: 'Outcome',
};

/** Used within a sentence. */
export const dimensionNouns: Readonly<Record<Dimension, string>> = {
  product: 'product',
  key: 'API key',
  method: 'method',
  status: 'outcome',
};

/** Replacements for labels of the API, by series name. */
export const specialNames: Readonly<Record<string, string>> = {
  other: 'Other',
  notifications: 'Stream notifications',
};

export type Usage = RouteOutput<'GET /customers/{customer}/usage'>;
export type UsageSeries = Usage['series'][number];
