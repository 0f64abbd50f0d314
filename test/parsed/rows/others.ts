import { programs } from '../../../src/solana/programs.ts';
import { bytes, k, key, type Rows, row, u32 } from './row.ts';

/** Source: solana-address-lookup-table-interface, `ProgramInstruction`. */
export const addressLookupTable: Rows = {
  program: 'address-lookup-table',
  programId: programs.addressLookupTable,
  rows: [
    row('createLookupTable', u32(0).u64(42n).u8(254), 4, {
      lookupTableAccount: k(1),
      lookupTableAuthority: k(2),
      payerAccount: k(3),
      systemProgram: k(4),
      recentSlot: 42,
      bumpSeed: 254,
    }),
    row('freezeLookupTable', u32(1), 2, { lookupTableAccount: k(1), lookupTableAuthority: k(2) }),
    row(
      'extendLookupTable',
      u32(2).u64(2n).bytes(key(8)).bytes(key(9)),
      4,
      {
        lookupTableAccount: k(1),
        lookupTableAuthority: k(2),
        payerAccount: k(3),
        systemProgram: k(4),
        newAddresses: [k(8), k(9)],
      },
      2,
    ),
    row(
      'extendLookupTable',
      u32(2).u64(0n),
      3,
      {
        lookupTableAccount: k(1),
        lookupTableAuthority: k(2),
        newAddresses: [],
      },
      2,
    ),
    row('deactivateLookupTable', u32(3), 2, { lookupTableAccount: k(1), lookupTableAuthority: k(2) }),
    row('closeLookupTable', u32(4), 3, {
      lookupTableAccount: k(1),
      lookupTableAuthority: k(2),
      recipient: k(3),
    }),
  ],
};

const created = {
  source: k(1),
  account: k(2),
  wallet: k(3),
  mint: k(4),
  systemProgram: k(5),
  tokenProgram: k(6),
};

/** Source: spl-associated-token-account-interface, `AssociatedTokenAccountInstruction`. */
export const associatedTokenAccount: Rows = {
  program: 'spl-associated-token-account',
  programId: programs.ata,
  rows: [
    row('create', bytes(), 7, created, 6),
    row('create', bytes(0), 6, created),
    row('createIdempotent', bytes(1), 6, created),
    row('recoverNested', bytes(2), 7, {
      nestedSource: k(1),
      nestedMint: k(2),
      destination: k(3),
      nestedOwner: k(4),
      ownerMint: k(5),
      wallet: k(6),
      tokenProgram: k(7),
    }),
  ],
};

/** Source: solana-loader-v2-interface, `LoaderInstruction`. */
export const bpfLoader: Rows = {
  program: 'bpf-loader',
  programId: programs.bpfLoader2,
  rows: [
    row('write', u32(0).u32(42).u64(2n).bytes(Uint8Array.of(8, 8)), 1, {
      offset: 42,
      bytes: 'CAg=',
      account: k(1),
    }),
    row('finalize', u32(1), 2, { account: k(1) }),
  ],
};

/** Source: solana-loader-v3-interface, `UpgradeableLoaderInstruction`. */
export const bpfUpgradeableLoader: Rows = {
  program: 'bpf-upgradeable-loader',
  programId: programs.bpfUpgradeableLoader,
  rows: [
    row('initializeBuffer', u32(0), 2, { account: k(1), authority: k(2) }, 1),
    row('initializeBuffer', u32(0), 1, { account: k(1) }),
    row('write', u32(1).u32(42).u64(1n).u8(8), 2, {
      offset: 42,
      bytes: 'CA==',
      account: k(1),
      authority: k(2),
    }),
    row('deployWithMaxDataLen', u32(2).u64(99n), 8, {
      maxDataLen: 99,
      payerAccount: k(1),
      programDataAccount: k(2),
      programAccount: k(3),
      bufferAccount: k(4),
      rentSysvar: k(5),
      clockSysvar: k(6),
      systemProgram: k(7),
      authority: k(8),
    }),
    row('upgrade', u32(3), 7, {
      programDataAccount: k(1),
      programAccount: k(2),
      bufferAccount: k(3),
      spillAccount: k(4),
      rentSysvar: k(5),
      clockSysvar: k(6),
      authority: k(7),
    }),
    row('setAuthority', u32(4), 3, { account: k(1), authority: k(2), newAuthority: k(3) }, 2),
    row('setAuthority', u32(4), 2, { account: k(1), authority: k(2), newAuthority: null }),
    row('close', u32(5), 4, { account: k(1), recipient: k(2), authority: k(3), programAccount: k(4) }, 3),
    row('close', u32(5), 3, { account: k(1), recipient: k(2), authority: k(3), programAccount: null }),
    row(
      'extendProgram',
      u32(6).u32(99),
      4,
      {
        additionalBytes: 99,
        programDataAccount: k(1),
        programAccount: k(2),
        systemProgram: k(3),
        payerAccount: k(4),
      },
      2,
    ),
    row('extendProgram', u32(6).u32(99), 2, {
      additionalBytes: 99,
      programDataAccount: k(1),
      programAccount: k(2),
      systemProgram: null,
      payerAccount: null,
    }),
    row('setAuthorityChecked', u32(7), 3, { account: k(1), authority: k(2), newAuthority: k(3) }),
    row('migrate', u32(8), 3, { programDataAccount: k(1), programAccount: k(2), authority: k(3) }),
    row(
      'extendProgramChecked',
      u32(9).u32(99),
      5,
      {
        additionalBytes: 99,
        programDataAccount: k(1),
        programAccount: k(2),
        authority: k(3),
        systemProgram: k(4),
        payerAccount: k(5),
      },
      3,
    ),
  ],
};
