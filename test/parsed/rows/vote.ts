import type { ByteWriter } from '../../../src/base/bytes.ts';
import { programs } from '../../../src/solana/programs.ts';
import { base64, fill, k, key, type Rows, row, text, u32 } from './row.ts';

const votes = (data: ByteWriter): ByteWriter => data.u64(2n).u64(7n).u64(9n).bytes(key(8)).u8(1).i64(-3n);
const vote = { slots: [7, 9], hash: k(8), timestamp: -3 };

const tower = (data: ByteWriter): ByteWriter =>
  data.u64(1n).u64(101n).u32(3).u8(1).u64(100n).bytes(key(8)).u8(0);
/** Root 100, offset 1, confirmation count 3. */
const compactTower = (data: ByteWriter): ByteWriter => data.u64(100n).u8(1).u8(1).u8(3).bytes(key(8)).u8(0);
const update = {
  lockouts: [{ slot: 101, confirmation_count: 3 }],
  root: 100,
  hash: k(8),
  timestamp: null,
};

const voting = { voteAccount: k(1), slotHashesSysvar: k(2), clockSysvar: k(3), voteAuthority: k(4) };
const voter = { voteAccount: k(1), voteAuthority: k(2) };
const towerSync = { ...update, blockId: k(9) };
const authorizing = { voteAccount: k(1), clockSysvar: k(2) };
const seeded = { ...authorizing, authorityBaseKey: k(3), authorityOwner: k(6), authoritySeed: 's' };

/** Source: solana-vote-interface, `VoteInstruction`. */
export const voteRows: Rows = {
  program: 'vote',
  programId: programs.vote,
  rows: [
    row('initialize', u32(0).bytes(key(7)).bytes(key(8)).bytes(key(9)).u8(10), 4, {
      voteAccount: k(1),
      rentSysvar: k(2),
      clockSysvar: k(3),
      node: k(4),
      authorizedVoter: k(8),
      authorizedWithdrawer: k(9),
      commission: 10,
    }),
    row('authorize', u32(1).bytes(key(6)).u32(1), 3, {
      ...authorizing,
      authority: k(3),
      newAuthority: k(6),
      authorityType: 'Withdrawer',
    }),
    row('vote', votes(u32(2)), 4, { ...voting, vote }),
    row('withdraw', u32(3).u64(5n), 3, {
      voteAccount: k(1),
      destination: k(2),
      withdrawAuthority: k(3),
      lamports: 5,
    }),
    row('updateValidatorIdentity', u32(4), 3, {
      voteAccount: k(1),
      newValidatorIdentity: k(2),
      withdrawAuthority: k(3),
    }),
    row('updateCommission', u32(5).u8(7), 2, { voteAccount: k(1), withdrawAuthority: k(2), commission: 7 }),
    row('voteSwitch', votes(u32(6)).bytes(key(9)), 4, { ...voting, vote, hash: k(9) }),
    row('authorizeChecked', u32(7).u32(0), 4, {
      ...authorizing,
      authority: k(3),
      newAuthority: k(4),
      authorityType: 'Voter',
    }),
    row('authorizeChecked', u32(7).u32(2).bytes(fill(48, 5)).bytes(fill(96, 6)), 4, {
      ...authorizing,
      authority: k(3),
      newAuthority: k(4),
      authorityType: {
        VoterWithBLS: { bls_pubkey: [...fill(48, 5)], bls_proof_of_possession: [...fill(96, 6)] },
      },
    }),
    row('updatevotestate', tower(u32(8)), 2, { ...voter, voteStateUpdate: update }),
    row('updatevotestateswitch', tower(u32(9)).bytes(key(9)), 2, {
      ...voter,
      voteStateUpdate: update,
      hash: k(9),
    }),
    row('authorizeWithSeed', u32(10).u32(0).bytes(key(6)).bytes(text('s')).bytes(key(7)), 3, {
      ...seeded,
      newAuthority: k(7),
      authorityType: 'Voter',
    }),
    row('authorizeCheckedWithSeed', u32(11).u32(1).bytes(key(6)).bytes(text('s')), 4, {
      ...seeded,
      newAuthority: k(4),
      authorityType: 'Withdrawer',
    }),
    row('compactupdatevotestate', compactTower(u32(12)), 2, { ...voter, voteStateUpdate: update }),
    row('compactupdatevotestateswitch', compactTower(u32(13)).bytes(key(9)), 2, {
      ...voter,
      voteStateUpdate: update,
      hash: k(9),
    }),
    row('towersync', compactTower(u32(14)).bytes(key(9)), 2, { ...voter, towerSync }),
    row('towersyncswitch', compactTower(u32(15)).bytes(key(9)).bytes(key(7)), 2, {
      ...voter,
      towerSync,
      hash: k(7),
    }),
    row(
      'initializeV2',
      u32(16)
        .bytes(key(7))
        .bytes(key(8))
        .bytes(fill(48, 5))
        .bytes(fill(96, 6))
        .bytes(key(9))
        .u16(500)
        .u16(10_000),
      4,
      {
        voteAccount: k(1),
        node: k(2),
        inflationRewardsCollector: k(3),
        blockRevenueCollector: k(4),
        authorizedVoter: k(8),
        authorizedVoterBlsPubkey: base64(48, 5),
        authorizedVoterBlsProofOfPossession: base64(96, 6),
        authorizedWithdrawer: k(9),
        inflationRewardsCommissionBps: 500,
        blockRevenueCommissionBps: 10_000,
      },
    ),
    row('updateCommissionCollector', u32(17).u32(1), 3, {
      voteAccount: k(1),
      newCollector: k(2),
      withdrawAuthority: k(3),
      commissionKind: 'BlockRevenue',
    }),
    row('updateCommissionBps', u32(18).u16(250).u32(0), 2, {
      voteAccount: k(1),
      withdrawAuthority: k(2),
      commissionBps: 250,
      commissionKind: 'InflationRewards',
    }),
    row('depositDelegatorRewards', u32(19).u64(5n), 2, { voteAccount: k(1), source: k(2), deposit: 5 }),
  ],
};
