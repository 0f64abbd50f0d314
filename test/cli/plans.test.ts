import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../service/program.ts';
import { runHere } from './run-solway.ts';

let folder = '';
const solway = (...args: string[]) => runHere(folder, ['plans', ...args]);

beforeEach(() => {
  folder = temporaryFolder('cli');
});

describe('solway plans', () => {
  it('sets limits and prices, keeps those that are not given, and removes a price', async () => {
    // Creates the database.
    await runHere(folder, ['keys', 'create', '--name', 'x']);
    const limits = ['--limit', 'monthly_credits=7', '--limit', 'quota_is_hard=true'];
    const made = await solway('create', 'pro', ...limits, '--price', 'usd,4900,1000,500', '--json');
    const price = { currency: 'usd', monthlyPrice: 4_900, includedCredits: 1_000, pricePerMillion: 500 };
    const limitsMade = { monthlyCredits: 7, quotaIsHard: true };
    expect(JSON.parse(made.out)).toMatchObject({ id: 'pro', limits: limitsMade, price });
    const changed = await solway('change', 'pro', '--limit', 'quota_is_hard=false', '--json');
    const limitsChanged = { monthlyCredits: 7, quotaIsHard: false };
    expect(JSON.parse(changed.out)).toMatchObject({ limits: limitsChanged, price });
    const free = await solway('change', 'pro', '--price', 'none', '--json');
    expect(JSON.parse(free.out)).toMatchObject({ limits: limitsChanged, price: null });
  });

  it('rejects options that it cannot read', async () => {
    for (const option of ['--limit=monthly_credits', '--limit=monthly_credits=-1', '--limit=a=yes'])
      expect(await solway('create', 'pro', option)).toMatchObject({
        code: 2,
        err: expect.stringContaining('--limit must be NAME=VALUE such as monthly_credits=1000000'),
      });
    for (const price of ['usd', 'USD,1,2,3', 'usd,1,2', 'usd,1.5,2,3', 'usd,-1,2,3'])
      expect(await solway('create', 'pro', '--price', price)).toMatchObject({
        code: 2,
        err: expect.stringContaining('--price must be CODE,MONTHLY,INCLUDED,MILLION'),
      });
  });
});
