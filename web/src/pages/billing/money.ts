import { formatMoney, formatMonth } from '../../format.ts';

type Money = Readonly<{ currency: string; amount: number }>;

export const totalText = (totals: readonly Money[]): string =>
  totals.length === 0 ? '–' : totals.map(({ amount, currency }) => formatMoney(amount, currency)).join(' + ');

/** @param name - such as `2026-11`. */
export const monthTitle = (name: string): string => formatMonth(Date.parse(`${name}-01T00:00:00Z`));
