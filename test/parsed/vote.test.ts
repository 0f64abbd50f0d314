import {
  PublicKey,
  TransactionInstruction,
  VoteAuthorizationLayout,
  VoteInit,
  VoteProgram,
} from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/base/bytes.ts';
import { only, parsedJson, text, withData, withoutAccounts } from './built.ts';

const key = (n: number): PublicKey => new PublicKey(Buffer.alloc(32, n));
const [vote, node, voter, withdrawer, other] = [key(1), key(2), key(3), key(4), key(5)];
const clock = 'SysvarC1ock11111111111111111111111111111111';
const rent = 'SysvarRent111111111111111111111111111111111';
const [hash, blockId] = [key(8), key(9)];

const on = (accounts: PublicKey[], write: (data: ByteWriter) => ByteWriter): TransactionInstruction =>
  new TransactionInstruction({
    programId: VoteProgram.programId,
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.from(write(new ByteWriter()).finish()),
  });

/** Root 100, then votes on 101, 103 and 303 (the offset 200 needs two bytes). */
const compactTower = (data: ByteWriter, root = 100n): ByteWriter =>
  data
    .u64(root)
    .bytes(Uint8Array.of(3, 1, 3, 2, 2, 0xc8, 0x01, 1))
    .bytes(hash.toBytes())
    .u8(1)
    .i64(-7n);

const lockouts = [
  { slot: 101, confirmation_count: 3 },
  { slot: 103, confirmation_count: 2 },
  { slot: 303, confirmation_count: 1 },
];

describe('vote instruction', () => {
  it('initializes an account', () => {
    const initialize = VoteProgram.initializeAccount({
      votePubkey: vote,
      nodePubkey: node,
      voteInit: new VoteInit(node, voter, withdrawer, 10),
    });
    expect(parsedJson(initialize)).toEqual({
      type: 'initialize',
      info: {
        voteAccount: text(vote),
        rentSysvar: rent,
        clockSysvar: clock,
        node: text(node),
        authorizedVoter: text(voter),
        authorizedWithdrawer: text(withdrawer),
        commission: 10,
      },
    });
    expect(parsedJson(withoutAccounts(initialize, 1))).toBeNull();
  });

  it('authorizes, also with a seed', () => {
    const change = {
      votePubkey: vote,
      newAuthorizedPubkey: other,
      voteAuthorizationType: VoteAuthorizationLayout.Voter,
    };
    expect(parsedJson(only(VoteProgram.authorize({ ...change, authorizedPubkey: voter })))).toEqual({
      type: 'authorize',
      info: {
        voteAccount: text(vote),
        clockSysvar: clock,
        authority: text(voter),
        newAuthority: text(other),
        authorityType: 'Voter',
      },
    });
    const seeded = VoteProgram.authorizeWithSeed({
      ...change,
      currentAuthorityDerivedKeyBasePubkey: voter,
      currentAuthorityDerivedKeyOwnerPubkey: withdrawer,
      currentAuthorityDerivedKeySeed: 'seed',
    });
    expect(parsedJson(only(seeded))).toEqual({
      type: 'authorizeWithSeed',
      info: {
        voteAccount: text(vote),
        clockSysvar: clock,
        authorityBaseKey: text(voter),
        authorityOwner: text(withdrawer),
        authoritySeed: 'seed',
        newAuthority: text(other),
        authorityType: 'Voter',
      },
    });
  });

  it('withdraws', () => {
    const withdraw = VoteProgram.withdraw({
      votePubkey: vote,
      authorizedWithdrawerPubkey: withdrawer,
      lamports: 9,
      toPubkey: other,
    });
    expect(parsedJson(only(withdraw))).toEqual({
      type: 'withdraw',
      info: {
        voteAccount: text(vote),
        destination: text(other),
        withdrawAuthority: text(withdrawer),
        lamports: 9,
      },
    });
  });

  it('syncs a compact tower', () => {
    const sync = on([vote, voter], (data) => compactTower(data.u32(14)).bytes(blockId.toBytes()));
    expect(parsedJson(sync)).toEqual({
      type: 'towersync',
      info: {
        voteAccount: text(vote),
        voteAuthority: text(voter),
        towerSync: { lockouts, root: 100, hash: text(hash), timestamp: -7, blockId: text(blockId) },
      },
    });
    expect(parsedJson(withData(sync, sync.data.subarray(0, -1)))).toBeNull();
    expect(parsedJson(withoutAccounts(sync, 1))).toBeNull();
  });

  it('shows no root when absent and counts offsets from zero', () => {
    const update = on([vote, voter], (data) =>
      compactTower(data.u32(13), 0xffff_ffff_ffff_ffffn).bytes(blockId.toBytes()),
    );
    expect(parsedJson(update)).toEqual({
      type: 'compactupdatevotestateswitch',
      info: {
        voteAccount: text(vote),
        voteAuthority: text(voter),
        voteStateUpdate: {
          lockouts: lockouts.map(({ slot, ...rest }) => ({ slot: slot - 100, ...rest })),
          root: null,
          hash: text(hash),
          timestamp: -7,
        },
        hash: text(blockId),
      },
    });
  });

  it('reads full towers and plain votes', () => {
    const update = on([vote, voter], (data) =>
      data.u32(8).u64(1n).u64(5n).u32(2).u8(0).bytes(hash.toBytes()).u8(0),
    );
    expect(parsedJson(update)).toMatchObject({
      type: 'updatevotestate',
      info: {
        voteStateUpdate: {
          lockouts: [{ slot: 5, confirmation_count: 2 }],
          root: null,
          hash: text(hash),
          timestamp: null,
        },
      },
    });
    const plain = on([vote, other, node, voter], (data) =>
      data.u32(6).u64(2n).u64(5n).u64(6n).bytes(hash.toBytes()).u8(1).i64(77n).bytes(blockId.toBytes()),
    );
    expect(parsedJson(plain)).toEqual({
      type: 'voteSwitch',
      info: {
        voteAccount: text(vote),
        slotHashesSysvar: text(other),
        clockSysvar: text(node),
        voteAuthority: text(voter),
        vote: { slots: [5, 6], hash: text(hash), timestamp: 77 },
        hash: text(blockId),
      },
    });
  });

  it('changes identity, commission and collectors', () => {
    expect(parsedJson(on([vote, node, withdrawer], (data) => data.u32(4)))).toEqual({
      type: 'updateValidatorIdentity',
      info: {
        voteAccount: text(vote),
        newValidatorIdentity: text(node),
        withdrawAuthority: text(withdrawer),
      },
    });
    expect(parsedJson(on([vote, withdrawer], (data) => data.u32(5).u8(7)))).toEqual({
      type: 'updateCommission',
      info: { voteAccount: text(vote), withdrawAuthority: text(withdrawer), commission: 7 },
    });
    expect(parsedJson(on([vote, withdrawer], (data) => data.u32(18).u16(750).u32(1)))).toEqual({
      type: 'updateCommissionBps',
      info: {
        voteAccount: text(vote),
        withdrawAuthority: text(withdrawer),
        commissionBps: 750,
        commissionKind: 'BlockRevenue',
      },
    });
  });

  it('is unparsed with an invalid count or offset', () => {
    const endless = on([vote, other, node, voter], (data) => data.u32(2).u64(0xffff_ffff_ffff_ffffn));
    expect(parsedJson(endless)).toBeNull();
    const beyond = on([vote, voter], (data) =>
      data
        .u32(14)
        .u64(0xffff_ffff_ffff_fffen)
        .bytes(Uint8Array.of(1, 2, 1))
        .bytes(hash.toBytes())
        .u8(0)
        .bytes(blockId.toBytes()),
    );
    expect(parsedJson(beyond)).toBeNull();
  });
});
