import type { QuotaJson } from '../../../../src/control/api/contract/usage.ts';
import { formatShort } from '../../format.ts';

export function monthNote(quotas: readonly Pick<QuotaJson, 'used' | 'limit'>[]): string {
  const limits = quotas.map(({ limit }) => limit).filter((limit) => limit !== null);
  if (limits.length === 0) return 'Unlimited';
  const sum = (values: readonly number[]): string => formatShort(values.reduce((all, one) => all + one, 0));
  const used = sum(quotas.map((quota) => quota.used));
  return limits.length < quotas.length ? `${used} this month` : `${used} of ${sum(limits)} this month`;
}
