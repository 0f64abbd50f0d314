import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../../base/json.ts';
import { type Address, addressFromBytes } from '../../address.ts';
import { nativeMint, programs } from '../../programs.ts';
import { lamports } from '../../units.ts';
import { parseAccountData } from '../parse-account.ts';
import type { AccountLookup } from './parsed-account.ts';

const key = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n));

function shown(owner: Address, data: Uint8Array, lookup?: AccountLookup): JsonValue {
  const account = { lamports: lamports(1), data, owner, executable: false, rentEpoch: 0n };
  const parsed = parseAccountData(key(99), account, lookup);
  return parsed === null ? null : parseJson(writeJson(parsed));
}

describe('token program account', () => {
  const account = new Uint8Array(165);
  account.fill(1, 0, 32).fill(2, 32, 64);
  account[64] = 42;
  account[108] = 1;
  const lookup = { mint: () => ({ decimals: 2 }) };

  it('is parsed only when the mint is known', () => {
    expect(shown(programs.token, account)).toBeNull();
    expect(shown(programs.token, account, { mint: () => null })).toBeNull();
    expect(shown(programs.token, account, lookup)).toMatchObject({
      program: 'spl-token',
      parsed: { type: 'account', info: { tokenAmount: { uiAmountString: '0.42' }, isNative: false } },
    });
  });

  it('uses the time of the lookup', () => {
    const delegated = Uint8Array.from(account);
    delegated[72] = 1;
    delegated.fill(3, 76, 108);
    delegated[121] = 21;
    const scaledUiAmount = { multiplier: 2, newMultiplierEffectiveTimestamp: 100n, newMultiplier: 5 };
    const mint = () => ({ decimals: 2, scaledUiAmount });
    const amounts = (unixTimestamp?: bigint) => {
      const known = unixTimestamp === undefined ? { mint } : { mint, unixTimestamp };
      return shown(programs.token2022, delegated, known);
    };
    const uiAmounts = (amount: string, delegatedAmount: string) => ({
      parsed: {
        info: {
          tokenAmount: { amount: '42', uiAmountString: amount },
          delegatedAmount: { amount: '21', uiAmountString: delegatedAmount },
        },
      },
    });
    expect(amounts(99n)).toMatchObject(uiAmounts('0.84', '0.42'));
    expect(amounts(100n)).toMatchObject(uiAmounts('2.1', '1.05'));
    expect(amounts()).toMatchObject(uiAmounts('0.42', '0.21'));
  });

  it('needs no lookup for wrapped SOL', () => {
    const native = Uint8Array.from(account);
    native.set(Buffer.from('069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001', 'hex'));
    native[109] = 1;
    native[113] = 240;
    expect(shown(programs.token, native)).toMatchObject({
      parsed: {
        info: { mint: nativeMint, isNative: true, rentExemptReserve: { amount: '240', decimals: 9 } },
      },
    });
  });
});
