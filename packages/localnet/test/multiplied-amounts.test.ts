import { expect, it } from 'vitest';
import { ByteWriter } from '../../../src/base/bytes.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import { programs } from '../../../src/solana/programs.ts';
import { openRig } from './rig.ts';
import { key, mint, tokenAccount } from './support/accounts.ts';

const MINT = key(60);
const HOLDER = key(61);
const SCALED_UI_AMOUNT = 25;
const MINT_TYPE = 1;
/** Type byte of a Token-2022 account. */
const TYPE_OFFSET = 165;
/** Mint with a multiplier of 2, and of 5 from the first second on. */
function multiplied(): Account {
  const plain = mint(300n, 2, programs.token2022);
  const data = new ByteWriter(TYPE_OFFSET + 1 + 4 + 56)
    .bytes(plain.data)
    .zeros(TYPE_OFFSET - plain.data.length)
    .u8(MINT_TYPE)
    .u16(SCALED_UI_AMOUNT)
    .u16(56)
    .zeros(32)
    .f64(2)
    .i64(1n)
    .f64(5)
    .finish();
  return { ...plain, data };
}

it('scaled mint amounts use the multiplier of the clock', async () => {
  // Plain Token-2022 accounts have no type byte.
  const held = tokenAccount(MINT, key(1), 150n, null, programs.token2022);
  const ledger = await openRig({
    accounts: [
      [MINT, multiplied()],
      [HOLDER, held],
    ],
  });
  ledger.freeze();
  const shown = (amount: number) => ({
    amount: String(amount),
    decimals: 2,
    uiAmount: (amount / 100) * 5,
    uiAmountString: String((amount / 100) * 5),
  });
  const processed = { commitment: 'processed' };
  expect((await ledger.result('getTokenSupply', [MINT, processed])).value).toEqual(shown(300));
  expect((await ledger.result('getTokenAccountBalance', [HOLDER, processed])).value).toEqual(shown(150));
  const largest = await ledger.result('getTokenLargestAccounts', [MINT, processed]);
  expect(largest.value).toEqual([{ address: HOLDER, ...shown(150) }]);
  const config = { ...processed, encoding: 'jsonParsed' };
  const { value } = await ledger.result('getAccountInfo', [HOLDER, config]);
  expect(value.data.parsed.info.tokenAmount).toEqual(shown(150));
  await ledger.close();
});
