import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../protocol/errors.ts';
import { defaultPlanLimits, type PlanLimits } from '../auth/key-record.ts';
import { creditsOf, QuotaLedger } from './quota.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);
const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_SECONDS = 86_400;

const keyOf = (limits: Partial<PlanLimits>, customerId = 'anna', planId = 'small') => ({
  customerId,
  planId,
  limits: { ...defaultPlanLimits, monthlyCredits: 10, ...limits },
});
const key = keyOf({});

function rejection(work: () => void): Failure | null {
  try {
    work();
    return null;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
}

describe('quota', () => {
  it('admits calls until the credits are spent, then reports the reset time', () => {
    const ledger = new QuotaLedger();
    for (let i = 0; i < 10; i++) {
      ledger.reserve(key, NOON);
      ledger.spend(key, 1, NOON);
    }
    const refused = rejection(() => ledger.reserve(key, NOON));
    expect(refused).toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfter: 8.5 * DAY_SECONDS });
    expect(refused?.facts).toEqual({
      limit: 10,
      used: 10,
      windowSeconds: 30 * DAY_SECONDS,
      resetsAt: '2026-12-01T00:00:00.000Z',
    });
    expect(ledger.exceeded(key, NOON)?.code).toBe('QUOTA_EXCEEDED');
  });

  it('reports a soft quota and refuses nothing', () => {
    const ledger = new QuotaLedger();
    const [first, second] = [ledger.trackChanges(), ledger.trackChanges()];
    const soft = keyOf({ quotaIsHard: false });
    ledger.spend(soft, 20, NOON);
    expect(first()).toHaveLength(1);
    ledger.spend(soft, 5, NOON);
    expect(rejection(() => ledger.reserve(soft, NOON))).toBeNull();
    expect(ledger.exceeded(soft, NOON)).toBeNull();
    const accounts = [{ customerId: 'anna', planId: 'small', limit: 10, local: 25, used: 25 }];
    expect([first(), second(), second()]).toEqual([accounts, accounts, []]);
  });

  it('is shared by the keys of a customer and plan', () => {
    const ledger = new QuotaLedger();
    ledger.spend(keyOf({}), 10, NOON);
    expect(rejection(() => ledger.reserve(keyOf({}), NOON))?.code).toBe('QUOTA_EXCEEDED');
    expect(rejection(() => ledger.reserve(keyOf({}, 'anna', 'large'), NOON))).toBeNull();
    expect(rejection(() => ledger.reserve(keyOf({}, 'bert'), NOON))).toBeNull();
  });

  it('resets with the month in UTC', () => {
    const ledger = new QuotaLedger();
    ledger.spend(key, 10, DECEMBER - 1);
    expect(rejection(() => ledger.reserve(key, DECEMBER - 1))?.retryAfter).toBe(1);
    expect(rejection(() => ledger.reserve(key, DECEMBER))).toBeNull();
    expect(ledger.status(key, DECEMBER)).toEqual({
      limit: 10,
      remaining: 10,
      windowSeconds: 31 * DAY_SECONDS,
      resetSeconds: 31 * DAY_SECONDS,
    });
  });

  it('stays in the current month when the clock is set back', () => {
    const ledger = new QuotaLedger();
    ledger.spend(key, 9, DECEMBER);
    ledger.spend(key, 1, NOON);
    expect(rejection(() => ledger.reserve(key, NOON))?.facts).toMatchObject({ used: 10 });
  });

  it('counts usage of earlier runs and other gateways once, in any order', () => {
    const ledger = new QuotaLedger();
    const used = { customerId: 'anna', planId: 'small' };
    ledger.applyStored([{ ...used, credits: 6 }], NOVEMBER, NOON);
    ledger.applyReported({ ...used, credits: 5 }, NOVEMBER);
    ledger.applyStored([{ ...used, credits: 4 }], NOVEMBER, NOON);
    ledger.spend(key, 3, NOON);
    expect(ledger.status(key, NOON)).toMatchObject({ remaining: 1 });
    ledger.applyReported({ ...used, credits: 7 }, NOVEMBER);
    expect(rejection(() => ledger.reserve(key, NOON))?.facts).toMatchObject({ used: 10 });
  });

  it('ignores usage of another month', () => {
    const ledger = new QuotaLedger();
    const used = { customerId: 'anna', planId: 'small', credits: 10 };
    ledger.applyStored([used], Date.UTC(2026, 9, 1), NOON);
    ledger.applyReported(used, Date.UTC(2026, 9, 1));
    expect(ledger.status(key, NOON)).toMatchObject({ remaining: 10 });
  });

  it('limits each gateway to its share while they cannot communicate', () => {
    const ledger = new QuotaLedger();
    ledger.spend(key, 4, NOON);
    ledger.setGateways(3);
    ledger.reserve(key, NOON);
    ledger.spend(key, 2, NOON);
    expect(rejection(() => ledger.reserve(key, NOON))?.code).toBe('QUOTA_EXCEEDED');
    ledger.setGateways(1);
    expect(rejection(() => ledger.reserve(key, NOON))).toBeNull();
  });

  it('divides accounts created while gateways cannot communicate', () => {
    const ledger = new QuotaLedger();
    ledger.setGateways(2);
    ledger.spend(key, 5, NOON);
    expect(rejection(() => ledger.reserve(key, NOON))?.code).toBe('QUOTA_EXCEEDED');
  });

  it('charges messages by bytes and carries the remainder over', () => {
    const ledger = new QuotaLedger();
    const streams = keyOf({ streamCredits: 3 });
    const charged = [20_000, 20_000, 60_000, 33_334].map((bytes) => ledger.spendBytes(streams, bytes, NOON));
    expect(charged).toEqual([0, 1, 2, 1]);
    expect(ledger.status(streams, NOON)).toMatchObject({ remaining: 6 });
  });

  it('counts at most accountsMax accounts', () => {
    const ledger = new QuotaLedger({ accountsMax: 2 });
    for (const customer of ['a', 'b', 'c', 'd']) ledger.spend(keyOf({}, customer), 10, NOON);
    expect(ledger.accounts().map(({ customerId }) => customerId)).toEqual(['a', 'b']);
  });

  it('is exceeded by at most one call, with any concurrency', () => {
    const calls = fc.array(
      fc.record({ price: fc.integer({ min: 1, max: 7 }), answered: fc.boolean(), endsAfter: fc.nat(20) }),
      { minLength: 1, maxLength: 200 },
    );
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 60 }), (drawn, monthlyCredits) => {
        const ledger = new QuotaLedger();
        const customer = keyOf({ monthlyCredits });
        const inFlight: { price: number; answered: boolean; endsAt: number }[] = [];
        let spent = 0;
        const end = (now: number): void => {
          for (const call of inFlight.filter(({ endsAt }) => endsAt <= now)) {
            inFlight.splice(inFlight.indexOf(call), 1);
            const credits = call.answered ? call.price : 0;
            spent += credits;
            ledger.spend(customer, credits, NOON, call.price);
          }
        };
        drawn.forEach(({ price, answered, endsAfter }, now) => {
          end(now);
          const refused = rejection(() => ledger.reserve(customer, NOON, price));
          if (refused === null) inFlight.push({ price, answered, endsAt: now + endsAfter });
        });
        end(Number.POSITIVE_INFINITY);
        expect(spent).toBeLessThan(monthlyCredits + 7);
        expect(ledger.status(customer, NOON)?.remaining).toBe(Math.max(0, monthlyCredits - spent));
        // All reservations are released: a call is admitted as long as credits are left.
        expect(rejection(() => ledger.reserve(customer, NOON)) === null).toBe(spent < monthlyCredits);
      }),
    );
  });
});

describe('price', () => {
  it('is that of the plan, else that of the method table', () => {
    const { limits } = keyOf({ prices: { getBlock: 30, getSlot: 0 } });
    expect(['getBlock', 'getSlot', 'getBalance'].map((method) => creditsOf(limits, method, 2))).toEqual([
      30, 0, 2,
    ]);
  });

  it('ignores inherited object properties', () => {
    const { limits } = keyOf({ prices: JSON.parse('{"getSlot":5}') as Record<string, number> });
    for (const name of ['constructor', '__proto__', 'toString']) expect(creditsOf(limits, name, 1)).toBe(1);
  });
});
