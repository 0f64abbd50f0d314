import type { RouteInput } from '../../../../src/control/api/contract/contract.ts';
import { fieldProblem } from '../../api.ts';
import { minorDigits } from '../../format.ts';
import { limitNames, type Plan } from '../../plan-limits.ts';

/** Fields of the form, as typed. */
export type PlanDraft = Readonly<{
  id: string;
  name: string;
  /** Empty: the plan has no price. */
  currency: string;
  monthlyPrice: string;
  includedCredits: string;
  pricePerMillion: string;
  quotaIsHard: boolean;
  /** One method and its credits per line. */
  prices: string;
  /** Empty: the default for a new plan; unchanged for an existing one. */
  limits: Readonly<Record<string, string>>;
}>;

export const numericLimits = Object.keys(limitNames).filter(
  (name) => name !== 'quotaIsHard' && name !== 'prices',
);

function moneyText(amount: number, currency: string): string {
  const digits = minorDigits(currency);
  return (amount / 10 ** digits).toFixed(digits);
}

export function draftOf(plan: Plan | null): PlanDraft {
  const { id = '', name = '', limits, price = null } = plan ?? {};
  return {
    ...{ id, name },
    currency: price?.currency ?? '',
    monthlyPrice: price === null ? '' : moneyText(price.monthlyPrice, price.currency),
    includedCredits: price === null ? '' : String(price.includedCredits),
    pricePerMillion: price === null ? '' : moneyText(price.pricePerMillion, price.currency),
    quotaIsHard: limits?.quotaIsHard ?? true,
    prices: Object.entries(limits?.prices ?? {})
      .map(([method, credits]) => `${method} ${credits}`)
      .join('\n'),
    limits: Object.fromEntries(
      Object.entries(limits ?? {})
        .filter(([limit]) => numericLimits.includes(limit))
        .map(([limit, value]) => [limit, String(value)]),
    ),
  };
}

function wholeOf(text: string, field: string): number {
  if (text.trim() === '') return 0;
  if (/^\d{1,15}$/.test(text.trim())) return Number(text);
  throw fieldProblem(field, 'Enter a whole number.');
}

/** Converts decimal text to minor units without floating-point arithmetic. */
export function minorOf(text: string, currency: string, field: string): number {
  const digits = minorDigits(currency);
  const [, whole = '0', fraction = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(text.trim() || '0') ?? [
    '',
    'invalid',
  ];
  if (whole === 'invalid' || fraction.length > digits)
    throw fieldProblem(field, `Enter an amount such as ${moneyText(4_900, currency)}.`);
  return Number(whole + fraction.padEnd(digits, '0'));
}

function priceOf({ currency, monthlyPrice, includedCredits, pricePerMillion }: PlanDraft): Plan['price'] {
  const code = currency.trim().toLowerCase();
  if (code === '') return null;
  if (!/^[a-z]{3}$/.test(code)) throw fieldProblem('price.currency', 'Enter a code such as USD.');
  return {
    currency: code,
    monthlyPrice: minorOf(monthlyPrice, code, 'price.monthlyPrice'),
    includedCredits: wholeOf(includedCredits, 'price.includedCredits'),
    pricePerMillion: minorOf(pricePerMillion, code, 'price.pricePerMillion'),
  };
}

function methodPrices(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [method = '', credits = ''] = line.trim().split(/[\s=:]+/);
      if (method === '' || credits === '')
        throw fieldProblem('limits.prices', 'Write a method and its credits on each line.');
      return [method, wholeOf(credits, 'limits.prices')];
    }),
  );
}

type Body = Omit<RouteInput<'POST /plans'>['body'], 'id'>;

/** @throws ApiProblem for the first invalid field */
export function bodyOf(draft: PlanDraft): Body {
  const filled = Object.entries(draft.limits).filter(([, text]) => text.trim() !== '');
  return {
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    price: priceOf(draft),
    limits: {
      ...Object.fromEntries(filled.map(([limit, text]) => [limit, wholeOf(text, `limits.${limit}`)])),
      quotaIsHard: draft.quotaIsHard,
      prices: methodPrices(draft.prices),
    },
  };
}
