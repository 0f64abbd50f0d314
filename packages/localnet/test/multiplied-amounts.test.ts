import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../../src/base/bytes.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import { programs } from '../../../src/solana/programs.ts';
import { openRig, type Rig } from './rig.ts';
import { key, mint, tokenAccount } from './support/accounts.ts';

const MINT = key(60);
const HOLDER = key(61);
const SCALED_UI_AMOUNT = 25;
const MINT_TYPE = 1;
/** Type byte of a Token-2022 account. */
const TYPE_OFFSET = 165;
/** Before and after the ledger's clock, in seconds. */
const [PAST, FUTURE] = [1n, 9_000_000_000n];

/** Mint with a multiplier of 2, and of 5 from a time on. */
function multiplied(from: bigint): Account {
  const plain = mint(300n, 2, programs.token2022);
  const data = new ByteWriter(TYPE_OFFSET + 1 + 4 + 56)
    .bytes(plain.data)
    .zeros(TYPE_OFFSET - plain.data.length)
    .u8(MINT_TYPE)
    .u16(SCALED_UI_AMOUNT)
    .u16(56)
    .zeros(32)
    .f64(2)
    .i64(from)
    .f64(5)
    .finish();
  return { ...plain, data };
}

describe.each([
  ['before', FUTURE, 2],
  ['after', PAST, 5],
] as const)('scaled mint amounts, %s its new multiplier applies', (_when, from, times) => {
  let ledger: Rig;
  beforeAll(async () => {
    const held = tokenAccount(MINT, key(1), 150n, null, programs.token2022);
    // Plain Token-2022 accounts have no type byte.
    ledger = await openRig({
      accounts: [
        [MINT, multiplied(from)],
        [HOLDER, held],
      ],
    });
    ledger.freeze();
  });
  afterAll(() => ledger.close());

  const shown = (amount: number) => ({
    amount: String(amount),
    decimals: 2,
    uiAmount: (amount / 100) * times,
    uiAmountString: String((amount / 100) * times),
  });
  const PROCESSED = { commitment: 'processed' };

  it('getTokenSupply', async () => {
    expect((await ledger.result('getTokenSupply', [MINT, PROCESSED])).value).toEqual(shown(300));
  });

  it('getTokenAccountBalance', async () => {
    expect((await ledger.result('getTokenAccountBalance', [HOLDER, PROCESSED])).value).toEqual(shown(150));
  });

  it('getTokenLargestAccounts', async () => {
    const { value } = await ledger.result('getTokenLargestAccounts', [MINT, PROCESSED]);
    expect(value).toEqual([{ address: HOLDER, ...shown(150) }]);
  });

  it('getAccountInfo, parsed', async () => {
    const { value } = await ledger.result('getAccountInfo', [
      HOLDER,
      { ...PROCESSED, encoding: 'jsonParsed' },
    ]);
    expect(value.data.parsed.info.tokenAmount).toEqual(shown(150));
  });
});
