import type { Answered } from '../../../../src/control/api/contract/contract.ts';

/** By what usage is parted. */
export const partings = ['product', 'key', 'method', 'status'] as const;
export type Parting = (typeof partings)[number];

export const partingTitles: Readonly<Record<Parting, string>> = {
  product: 'Product',
  key: 'Key',
  method: 'Method',
  status: 'Outcome',
};

export type Usage = Answered<'GET /customers/{customer}/usage'>;
export type UsageSeries = Usage['series'][number];
