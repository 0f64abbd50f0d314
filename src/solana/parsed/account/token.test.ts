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

  it('shows a mint with null for removed authorities', () => {
    const mint = new Uint8Array(82);
    mint[44] = 6;
    mint[45] = 1;
    const parsed = {
      type: 'mint',
      info: { decimals: 6, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply: '0' },
    };
    expect(shown(programs.token, mint)).toEqual({ program: 'spl-token', parsed, space: 82 });
    expect(shown(programs.token2022, mint)).toEqual({ program: 'spl-token-2022', parsed, space: 82 });
  });

  it('shows a multisig', () => {
    const multisig = new Uint8Array(355);
    multisig.set([2, 2, 1]);
    multisig.fill(7, 3, 67);
    // Every nonzero key is shown, counted or not.
    multisig.fill(8, 99, 131);
    const signers = [key(7), key(7), key(8)];
    expect(shown(programs.token, multisig)).toMatchObject({
      parsed: {
        type: 'multisig',
        info: { numRequiredSigners: 2, numValidSigners: 2, isInitialized: true, signers },
      },
    });
  });

  it('shows extensions by name and state, and invalid ones as unparseable', () => {
    const entry = (type: number, value: Uint8Array): number[] => [type, 0, value.length, 0, ...value];
    const nobody = new Uint8Array(32);
    const metadata = Buffer.concat([
      nobody,
      Buffer.alloc(32, 3),
      ...['Name', 'SYM', 'https://x'].flatMap((word) => [
        Buffer.from([word.length, 0, 0, 0]),
        Buffer.from(word),
      ]),
      Buffer.from([1, 0, 0, 0, 1, 0, 0, 0, 107, 1, 0, 0, 0, 118]),
    ]);
    const rate = Buffer.alloc(52);
    rate.writeInt16LE(-5, 40);
    rate.writeInt16LE(250, 50);
    const mint = new Uint8Array(166);
    mint[45] = 1;
    mint[165] = 1;
    const data = Uint8Array.of(
      ...mint,
      ...entry(9, new Uint8Array()),
      ...entry(3, nobody),
      ...entry(10, rate),
      ...entry(19, metadata),
      ...entry(12, new Uint8Array(5)),
      ...entry(8, Uint8Array.of(1)),
    );
    expect(shown(programs.token2022, data)).toMatchObject({
      parsed: {
        info: {
          extensions: [
            { extension: 'nonTransferable' },
            { extension: 'mintCloseAuthority', state: { closeAuthority: null } },
            {
              extension: 'interestBearingConfig',
              state: {
                rateAuthority: null,
                initializationTimestamp: 0,
                preUpdateAverageRate: -5,
                lastUpdateTimestamp: 0,
                currentRate: 250,
              },
            },
            {
              extension: 'tokenMetadata',
              state: {
                updateAuthority: null,
                mint: key(3),
                name: 'Name',
                symbol: 'SYM',
                uri: 'https://x',
                additionalMetadata: [['k', 'v']],
              },
            },
            { extension: 'unparseableExtension' },
            // Account extension in a mint.
            { extension: 'unparseableExtension' },
          ],
        },
      },
    });
    const unknown = Uint8Array.of(...data, ...entry(77, new Uint8Array(1)));
    expect(writeJson(shown(programs.token2022, unknown))).not.toContain('extension');
  });
});
