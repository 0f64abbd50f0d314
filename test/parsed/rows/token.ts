import { programs } from '../../../src/solana/programs.ts';
import { bytes, k, key, type Rows, row } from './row.ts';

const ui = (amount: string, decimals: number, uiAmountString: string) => ({
  amount,
  decimals,
  uiAmount: Number(uiAmountString),
  uiAmountString,
});
const tokenAmount = ui('42', 2, '0.42');

/** Source: spl-token-2022-interface, `TokenInstruction`; what both token programs take. */
export const token: Rows = {
  program: 'spl-token',
  programId: programs.token,
  rows: [
    row('initializeMint', bytes(0, 6).bytes(key(8)).u8(1).bytes(key(9)), 2, {
      mint: k(1),
      rentSysvar: k(2),
      decimals: 6,
      mintAuthority: k(8),
      freezeAuthority: k(9),
    }),
    row('initializeMint', bytes(0, 6).bytes(key(8)).u8(0), 2, {
      mint: k(1),
      rentSysvar: k(2),
      decimals: 6,
      mintAuthority: k(8),
    }),
    row('initializeAccount', bytes(1), 4, { account: k(1), mint: k(2), owner: k(3), rentSysvar: k(4) }),
    row(
      'initializeMultisig',
      bytes(2, 2),
      4,
      {
        multisig: k(1),
        rentSysvar: k(2),
        signers: [k(3), k(4)],
        m: 2,
      },
      3,
    ),
    row('transfer', bytes(3).u64(42n), 3, {
      source: k(1),
      destination: k(2),
      authority: k(3),
      amount: '42',
    }),
    row(
      'transfer',
      bytes(3).u64(42n),
      5,
      {
        source: k(1),
        destination: k(2),
        multisigAuthority: k(3),
        signers: [k(4), k(5)],
        amount: '42',
      },
      3,
    ),
    row('approve', bytes(4).u64(42n), 3, { source: k(1), delegate: k(2), owner: k(3), amount: '42' }),
    row('revoke', bytes(5), 2, { source: k(1), owner: k(2) }),
    row('setAuthority', bytes(6, 0, 1).bytes(key(9)), 2, {
      mint: k(1),
      authority: k(2),
      authorityType: 'mintTokens',
      newAuthority: k(9),
    }),
    row(
      'setAuthority',
      bytes(6, 3, 0),
      3,
      {
        account: k(1),
        multisigAuthority: k(2),
        signers: [k(3)],
        authorityType: 'closeAccount',
        newAuthority: null,
      },
      2,
    ),
    row('mintTo', bytes(7).u64(42n), 3, { mint: k(1), account: k(2), mintAuthority: k(3), amount: '42' }),
    row('burn', bytes(8).u64(42n), 3, { account: k(1), mint: k(2), authority: k(3), amount: '42' }),
    row('closeAccount', bytes(9), 3, { account: k(1), destination: k(2), owner: k(3) }),
    row('freezeAccount', bytes(10), 3, { account: k(1), mint: k(2), freezeAuthority: k(3) }),
    row(
      'thawAccount',
      bytes(11),
      4,
      {
        account: k(1),
        mint: k(2),
        multisigFreezeAuthority: k(3),
        signers: [k(4)],
      },
      3,
    ),
    row('transferChecked', bytes(12).u64(42n).u8(2), 4, {
      source: k(1),
      mint: k(2),
      destination: k(3),
      authority: k(4),
      tokenAmount,
    }),
    row('approveChecked', bytes(13).u64(42n).u8(2), 4, {
      source: k(1),
      mint: k(2),
      delegate: k(3),
      owner: k(4),
      tokenAmount,
    }),
    row('mintToChecked', bytes(14).u64(42n).u8(2), 3, {
      mint: k(1),
      account: k(2),
      mintAuthority: k(3),
      tokenAmount,
    }),
    row('burnChecked', bytes(15).u64(42n).u8(2), 3, {
      account: k(1),
      mint: k(2),
      authority: k(3),
      tokenAmount,
    }),
    row('initializeAccount2', bytes(16).bytes(key(9)), 3, {
      account: k(1),
      mint: k(2),
      rentSysvar: k(3),
      owner: k(9),
    }),
    row('syncNative', bytes(17), 1, { account: k(1) }),
    row('initializeAccount3', bytes(18).bytes(key(9)), 2, { account: k(1), mint: k(2), owner: k(9) }),
    row('initializeMultisig2', bytes(19, 1), 2, { multisig: k(1), signers: [k(2)], m: 1 }),
    row('initializeMint2', bytes(20, 6).bytes(key(8)).u8(0), 1, {
      mint: k(1),
      decimals: 6,
      mintAuthority: k(8),
    }),
    row('getAccountDataSize', bytes(21, 7, 0, 13, 0), 1, {
      mint: k(1),
      extensionTypes: ['immutableOwner', 'nonTransferableAccount'],
    }),
    row('getAccountDataSize', bytes(21), 1, { mint: k(1) }),
    row('initializeImmutableOwner', bytes(22), 1, { account: k(1) }),
    row('amountToUiAmount', bytes(23).u64(42n), 1, { mint: k(1), amount: '42' }),
    row('uiAmountToAmount', bytes(24).bytes(Buffer.from('0.42')), 1, { mint: k(1), uiAmount: '0.42' }),
    row('withdrawExcessLamports', bytes(38), 3, { source: k(1), destination: k(2), authority: k(3) }),
    row('unwrapLamports', bytes(45, 1).u64(42n), 3, {
      source: k(1),
      destination: k(2),
      authority: k(3),
      amount: '42',
    }),
    row(
      'unwrapLamports',
      bytes(45, 0),
      4,
      {
        source: k(1),
        destination: k(2),
        multisigAuthority: k(3),
        signers: [k(4)],
      },
      3,
    ),
    // Account and data counts, with the accounts concatenated.
    row(
      'batch',
      bytes(255, 3, 9, 3)
        .u64(42n)
        .bytes(Uint8Array.of(1, 1, 17)),
      4,
      {
        instructions: [
          {
            type: 'transfer',
            info: { source: k(1), destination: k(2), authority: k(3), amount: '42' },
          },
          { type: 'syncNative', info: { account: k(4) } },
        ],
      },
    ),
  ],
};
