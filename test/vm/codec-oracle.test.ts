import {
  AddressLookupTableProgram,
  Authorized,
  ComputeBudgetProgram,
  Keypair,
  Lockup,
  PublicKey,
  StakeProgram,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  VoteInit,
  VoteProgram,
} from '@solana/web3.js';
import { type FailedTransactionMetadata, LiteSvm, type TransactionMetadata } from 'litesvm/dist/internal.js';
import { describe, expect, it } from 'vitest';
import { type Address, addressBytes } from '../../src/solana/address.ts';
import { decodeAddressLookupTable } from '../../src/solana/address-lookup-table.ts';
import { parseBlockhash } from '../../src/solana/blockhash.ts';
import { decodeNonce, durableNonceOf, encodeNonce } from '../../src/solana/nonce.ts';
import { programs, sysvars } from '../../src/solana/programs.ts';
import { decodeStakeState, encodeStakeState } from '../../src/solana/stake-state.ts';
import {
  DEFAULT_RENT,
  decodeClock,
  decodeEpochRewards,
  decodeEpochSchedule,
  decodeFees,
  decodeLastRestartSlot,
  decodeRecentBlockhashes,
  decodeRent,
  decodeSlotHashes,
  decodeSlotHistory,
  decodeStakeHistory,
  encodeClock,
  encodeEpochRewards,
  encodeEpochSchedule,
  encodeFees,
  encodeLastRestartSlot,
  encodeRecentBlockhashes,
  encodeRent,
  encodeSlotHashes,
  encodeSlotHistory,
  encodeStakeHistory,
  minimumBalance,
} from '../../src/solana/sysvars.ts';
import { computeBudgetOf, feeOf } from '../../src/solana/transaction/compute-budget.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { decodeVoteState, encodeVoteState } from '../../src/solana/vote-state.ts';

const SOL = 1_000_000_000;
const vm = new LiteSvm();
vm.setSigverify(false);
const payer = Keypair.generate();
vm.airdrop(payer.publicKey.toBytes(), BigInt(100 * SOL));

let logs: readonly string[] = [];

function run(instructions: readonly TransactionInstruction[], ...signers: Keypair[]): Uint8Array {
  const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: vm.latestBlockhash() });
  transaction.add(...instructions).sign(payer, ...signers);
  const wire = Uint8Array.from(transaction.serialize());
  const outcome: TransactionMetadata | FailedTransactionMetadata = vm.sendLegacyTransaction(wire);
  if ('err' in outcome) throw new Error(outcome.meta().toString());
  logs = outcome.logs();
  vm.expireBlockhash();
  return wire;
}

function dataOf(key: PublicKey | Address): Uint8Array {
  const account = vm.getAccount(typeof key === 'string' ? addressBytes(key) : key.toBytes());
  if (account === null) throw new Error(`no account ${key}`);
  return account.data();
}

/** Accounts written by real programs must round-trip byte for byte. */
function roundTrip<T>(
  key: PublicKey | Address,
  decode: (data: Uint8Array) => T | null,
  encode: (value: T) => Uint8Array,
): T {
  const data = dataOf(key);
  const value = decode(data);
  if (value === null) throw new Error(`${key} is not read`);
  const written = encode(value);
  expect(Buffer.from(written.subarray(0, data.length)).toString('hex')).toBe(
    Buffer.from(data).toString('hex'),
  );
  expect(written.subarray(data.length).every((byte) => byte === 0)).toBe(true);
  return value;
}

const vote = Keypair.generate();

function createVote(): void {
  const [fromPubkey, newAccountPubkey] = [payer.publicKey, vote.publicKey];
  run(
    [
      SystemProgram.createAccount({
        fromPubkey,
        newAccountPubkey,
        lamports: SOL,
        space: 3762,
        programId: VoteProgram.programId,
      }),
      VoteProgram.initializeAccount({
        votePubkey: newAccountPubkey,
        nodePubkey: fromPubkey,
        voteInit: new VoteInit(fromPubkey, fromPubkey, fromPubkey, 5),
      }),
    ],
    vote,
  );
}

describe('accounts of real programs', () => {
  it('round-trip as vote account', () => {
    createVote();
    const state = roundTrip(vote.publicKey, decodeVoteState, encodeVoteState);
    expect(state).toMatchObject({
      version: 'V4',
      node: payer.publicKey.toBase58(),
      votes: [],
      rootSlot: null,
    });
  });

  it('round-trip as stake account, initialized and delegated', () => {
    const stake = Keypair.generate();
    run(
      [
        StakeProgram.createAccount({
          fromPubkey: payer.publicKey,
          stakePubkey: stake.publicKey,
          authorized: new Authorized(payer.publicKey, payer.publicKey),
          lockup: new Lockup(7, 8, payer.publicKey),
          lamports: 5 * SOL,
        }).instructions,
      ].flat(),
      stake,
    );
    const initialized = roundTrip(stake.publicKey, decodeStakeState, encodeStakeState);
    expect(initialized).toMatchObject({
      type: 'initialized',
      meta: { lockup: { unixTimestamp: 7n, epoch: 8n, custodian: payer.publicKey.toBase58() } },
    });
    run(
      StakeProgram.delegate({
        stakePubkey: stake.publicKey,
        authorizedPubkey: payer.publicKey,
        votePubkey: vote.publicKey,
      }).instructions,
    );
    const delegated = roundTrip(stake.publicKey, decodeStakeState, encodeStakeState);
    expect(delegated).toMatchObject({
      type: 'delegated',
      stake: { delegation: { voter: vote.publicKey.toBase58(), deactivationEpoch: 2n ** 64n - 1n } },
      flags: 0,
    });
  });

  it('round-trip as nonce account', () => {
    const nonce = Keypair.generate();
    const blockhash = parseBlockhash(vm.latestBlockhash());
    if ('fault' in blockhash) throw new Error(blockhash.fault);
    run(
      SystemProgram.createNonceAccount({
        fromPubkey: payer.publicKey,
        noncePubkey: nonce.publicKey,
        authorizedPubkey: payer.publicKey,
        lamports: SOL,
      }).instructions,
      nonce,
    );
    const state = roundTrip(nonce.publicKey, decodeNonce, encodeNonce);
    expect(state).toMatchObject({
      version: 'current',
      data: {
        authority: payer.publicKey.toBase58(),
        durableNonce: durableNonceOf(blockhash.blockhash),
      },
    });
  });

  it('are read as lookup table', () => {
    const recentSlot = decodeSlotHashes(dataOf(sysvars.slotHashes))?.[0]?.slot ?? 0n;
    const { slot } = vm.getClock();
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot,
    });
    const addresses = [PublicKey.unique(), PublicKey.unique()];
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority: payer.publicKey,
      payer: payer.publicKey,
      addresses,
    });
    run([create, extend]);
    expect(decodeAddressLookupTable(dataOf(table))).toEqual({
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: slot,
      lastExtendedSlotStartIndex: 0,
      authority: payer.publicKey.toBase58(),
      addresses: addresses.map(String),
    });
  });
});

describe('runtime charges', () => {
  it('equal the computed fee', () => {
    const before = vm.getBalance(payer.publicKey.toBytes()) ?? 0n;
    const wire = run([
      ComputeBudgetProgram.setComputeUnitLimit({ units: 100_001 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 12_345n }),
    ]);
    const after = vm.getBalance(payer.publicKey.toBytes()) ?? 0n;
    const decoded = decodeTransaction(wire);
    if ('fault' in decoded) throw new Error(decoded.fault);
    expect(feeOf(decoded.transaction.message)).toBe(before - after);
    expect(before - after).toBe(6_235n);
  });

  it('count against the computed unit limit', () => {
    const transfer = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: payer.publicKey,
      lamports: 1,
    });
    const memo = new TransactionInstruction({ programId: new PublicKey(programs.memoV3), keys: [] });
    const wire = run([transfer, memo]);
    const decoded = decodeTransaction(wire);
    if ('fault' in decoded) throw new Error(decoded.fault);
    const [, left] = /consumed \d+ of (\d+) compute units/.exec(logs.join('\n')) ?? [];
    // The transfer has used 150 units before the memo.
    expect(computeBudgetOf(decoded.transaction.message)).toMatchObject({ unitLimit: Number(left) + 150 });
  });

  it('equal the computed minimum balance', () => {
    for (const size of [0, 80, 82, 165, 200, 3762, 10 * 1024 * 1024]) {
      expect(minimumBalance(DEFAULT_RENT, size)).toBe(vm.minimumBalanceForRentExemption(BigInt(size)));
    }
  });
});

describe('runtime sysvars', () => {
  it('round-trip', () => {
    roundTrip(sysvars.clock, decodeClock, encodeClock);
    roundTrip(sysvars.epochSchedule, decodeEpochSchedule, encodeEpochSchedule);
    roundTrip(sysvars.rent, decodeRent, encodeRent);
    roundTrip(sysvars.epochRewards, decodeEpochRewards, encodeEpochRewards);
    roundTrip(sysvars.lastRestartSlot, decodeLastRestartSlot, encodeLastRestartSlot);
    roundTrip(sysvars.fees, decodeFees, encodeFees);
    expect(
      roundTrip(sysvars.recentBlockhashes, decodeRecentBlockhashes, encodeRecentBlockhashes),
    ).not.toEqual([]);
    expect(roundTrip(sysvars.slotHashes, decodeSlotHashes, encodeSlotHashes)).not.toEqual([]);
    roundTrip(sysvars.slotHistory, decodeSlotHistory, encodeSlotHistory);
    roundTrip(sysvars.stakeHistory, decodeStakeHistory, encodeStakeHistory);
  });
});
