import { programs } from '../../../src/solana/programs.ts';
import { k, key, type Rows, row, text, u32 } from './row.ts';

/** Source: solana-system-interface, `SystemInstruction`. */
export const system: Rows = {
  program: 'system',
  programId: programs.system,
  rows: [
    row('createAccount', u32(0).u64(5n).u64(6n).bytes(key(9)), 2, {
      source: k(1),
      newAccount: k(2),
      lamports: 5,
      space: 6,
      owner: k(9),
    }),
    row('assign', u32(1).bytes(key(9)), 1, { account: k(1), owner: k(9) }),
    row('transfer', u32(2).u64(5n), 2, { source: k(1), destination: k(2), lamports: 5 }),
    row('createAccountWithSeed', u32(3).bytes(key(8)).bytes(text('seed')).u64(5n).u64(6n).bytes(key(9)), 2, {
      source: k(1),
      newAccount: k(2),
      base: k(8),
      seed: 'seed',
      lamports: 5,
      space: 6,
      owner: k(9),
    }),
    row('advanceNonce', u32(4), 3, {
      nonceAccount: k(1),
      recentBlockhashesSysvar: k(2),
      nonceAuthority: k(3),
    }),
    row('withdrawFromNonce', u32(5).u64(5n), 5, {
      nonceAccount: k(1),
      destination: k(2),
      recentBlockhashesSysvar: k(3),
      rentSysvar: k(4),
      nonceAuthority: k(5),
      lamports: 5,
    }),
    row('initializeNonce', u32(6).bytes(key(9)), 3, {
      nonceAccount: k(1),
      recentBlockhashesSysvar: k(2),
      rentSysvar: k(3),
      nonceAuthority: k(9),
    }),
    row('authorizeNonce', u32(7).bytes(key(9)), 2, {
      nonceAccount: k(1),
      nonceAuthority: k(2),
      newAuthorized: k(9),
    }),
    row('allocate', u32(8).u64(6n), 1, { account: k(1), space: 6 }),
    row('allocateWithSeed', u32(9).bytes(key(8)).bytes(text('é')).u64(6n).bytes(key(9)), 2, {
      account: k(1),
      base: k(8),
      seed: 'é',
      space: 6,
      owner: k(9),
    }),
    row('assignWithSeed', u32(10).bytes(key(8)).bytes(text('')).bytes(key(9)), 2, {
      account: k(1),
      base: k(8),
      seed: '',
      owner: k(9),
    }),
    row('transferWithSeed', u32(11).u64(5n).bytes(text('s')).bytes(key(9)), 3, {
      source: k(1),
      sourceBase: k(2),
      destination: k(3),
      lamports: 5,
      sourceSeed: 's',
      sourceOwner: k(9),
    }),
    row('upgradeNonce', u32(12), 1, { nonceAccount: k(1) }),
    row('createAccountAllowPrefund', u32(13).u64(5n).u64(6n).bytes(key(9)), 2, {
      newAccount: k(1),
      source: k(2),
      lamports: 5,
      space: 6,
      owner: k(9),
    }),
    row('createAccountAllowPrefund', u32(13).u64(0n).u64(6n).bytes(key(9)), 1, {
      newAccount: k(1),
      space: 6,
      owner: k(9),
    }),
  ],
};
