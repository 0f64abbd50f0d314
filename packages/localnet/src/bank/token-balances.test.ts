import { describe, expect, it } from 'vitest';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { account, key } from '../../../../test/streams/ledger-script.ts';
import { tokenBalancesOf } from './token-balances.ts';

const [MINT, HOLDER, WALLET] = [key(1), key(2), key(3)];

function mintData(): Uint8Array {
  const data = new Uint8Array(82);
  data[44] = 6;
  data[45] = 1;
  return data;
}

function tokenData(): Uint8Array {
  const data = new Uint8Array(165);
  data.set(addressBytes(MINT), 0);
  data.set(addressBytes(WALLET), 32);
  data[64] = 9;
  data[108] = 1;
  return data;
}

/** Token account of one program whose mint belongs to another. */
function balances(program: Address, mintOwner: Address) {
  const accounts = new Map([
    [HOLDER, account({ owner: program, data: tokenData() })],
    [MINT, account({ owner: mintOwner, data: mintData() })],
  ]);
  return tokenBalancesOf([HOLDER, MINT, program], (address) => accounts.get(address) ?? null);
}

describe('token balance', () => {
  it('is recorded when the mint belongs to the same program', () => {
    for (const programId of [programs.token, programs.token2022]) {
      const balance = { accountIndex: 0, mint: MINT, owner: WALLET, programId, amount: 9n, decimals: 6 };
      expect(balances(programId, programId)).toEqual([balance]);
    }
  });

  it('is omitted when the mint belongs to another program', () => {
    expect(balances(programs.token, programs.system)).toEqual([]);
    expect(balances(programs.token, programs.token2022)).toEqual([]);
    expect(balances(programs.token2022, programs.token)).toEqual([]);
  });
});
