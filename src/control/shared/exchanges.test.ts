import { beforeEach, describe, expect, it } from 'vitest';
import { defaultPlanLimits } from '../../access/key-record.ts';
import { QuotaLedger } from '../../access/quota.ts';
import { type Exchange, quotaExchange } from './exchanges.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const ROUND = 33;
const MOST = 50;

describe('credits of many accounts', () => {
  let ledger: QuotaLedger;
  let exchange: Exchange;

  const spend = (customerId: string): void =>
    ledger.spend(
      { customerId, planId: 'p', limits: { ...defaultPlanLimits, monthlyCredits: 1_000 } },
      1,
      NOON,
    );
  /** The customers that one exchange tells of, with what they spent. */
  function say(isRound = false, isAnew = false): string[] {
    const said = exchange.say({ nowMs: 0, isRound, isAnew });
    const spent = said?.values.slice(2) ?? [];
    return (said?.keys ?? []).map((key, at) => `${key.split(':')[2]} ${spent[at]}`);
  }

  beforeEach(() => {
    ledger = new QuotaLedger();
    exchange = quotaExchange(ledger, 'q:', { gateway: 'g', namesMax: MOST });
    for (let i = 0; i < 20 * MOST; i++) spend(`c${i}`);
  });

  it('are told when they change, with the next exchange, however many others wait', () => {
    say(true, true);
    for (let at = 1; at < 3 * ROUND; at++) {
      spend('fresh');
      const told = say(at % ROUND === 0);
      // Those that changed before it go first; there were as many as fill so many exchanges.
      if (at >= 20) expect(told).toContain(`fresh ${at}`);
    }
  });

  it('are all told soon to a server that may know nothing', () => {
    say(false, true);
    const told = new Set(Array.from({ length: 41 }, () => say()).flat());
    expect(told.size).toBeGreaterThanOrEqual(19 * MOST);
  });

  it('are told once in a round while nothing happens, a few at a time', () => {
    for (let at = 0; at < 150; at++) say(at === 0, at === 0);
    expect(say()).toEqual([]);
    const told: string[] = [];
    for (let at = 0; at < 20 * 10; at++) {
      const now = say(at % ROUND === 0);
      expect(now.length).toBeLessThanOrEqual(MOST / 10);
      told.push(...now);
    }
    expect(new Set(told).size).toBe(20 * MOST);
    expect(told).toHaveLength(20 * MOST);
  });

  it('are told as they are now, never as they were', () => {
    say(true, true);
    let last = 0;
    for (let at = 0; at < 60; at++) {
      spend('c999');
      for (const told of say(at % 7 === 0).filter((one) => one.startsWith('c999 '))) {
        const spent = Number(told.split(' ')[1]);
        expect(spent).toBeGreaterThanOrEqual(last);
        last = spent;
      }
    }
    expect(last).toBe(61);
  });
});
