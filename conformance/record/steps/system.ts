import {
  ComputeBudgetProgram,
  LAMPORTS_PER_SOL,
  NONCE_ACCOUNT_LENGTH,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { programs } from '../../../src/solana/programs.ts';
import { key } from '../actors.ts';
import { rent, SOL, type Step, step } from './step.ts';

const airdrop = (to: string, lamports: number): Step =>
  step(`airdrop ${to}`, to, [], { airdrop: { to, lamports } });

const pay = (from: string, to: string, lamports: number): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: key(from), toPubkey: key(to), lamports });

export const memo = (text: string | Uint8Array, ...signers: string[]): TransactionInstruction =>
  new TransactionInstruction({
    programId: new PublicKey(programs.memoV3),
    keys: signers.map((name) => ({ pubkey: key(name), isSigner: true, isWritable: false })),
    data: Buffer.from(text as Uint8Array),
  });

/** A call that names alice and passes `data`. */
const raw = (programId: PublicKey, data: readonly number[]): TransactionInstruction =>
  new TransactionInstruction({
    programId,
    keys: [{ pubkey: key('alice'), isSigner: false, isWritable: false }],
    data: Buffer.from(data),
  });

/** A transfer from alice that she does not sign. */
function unsignedTransfer(): TransactionInstruction {
  const transfer = pay('alice', 'bob', 1);
  return new TransactionInstruction({
    ...transfer,
    keys: transfer.keys.map((meta) => ({ ...meta, isSigner: false })),
  });
}

const SEED = 'savings';
const withSeed = { basePubkey: key('payer'), seed: SEED, programId: SystemProgram.programId };
export const SEEDED = await PublicKey.createWithSeed(key('payer'), SEED, SystemProgram.programId);

const budget = (units: number, microLamports: number): TransactionInstruction[] => [
  ComputeBudgetProgram.setComputeUnitLimit({ units }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
];
const dataSizeLimit = (bytes: number): TransactionInstruction => {
  const data = Buffer.from([4, 0, 0, 0, 0]);
  data.writeUInt32LE(bytes, 1);
  return new TransactionInstruction({ programId: ComputeBudgetProgram.programId, keys: [], data });
};

const create = (
  name: string,
  space: number,
  lamports: number,
  owner = key('owner'),
): TransactionInstruction =>
  SystemProgram.createAccount({
    ...{ fromPubkey: key('payer'), newAccountPubkey: key(name) },
    ...{ space, lamports, programId: owner },
  });

const transfers: readonly Step[] = [
  airdrop('payer', 100 * SOL),
  airdrop('sender', 10 * SOL),
  airdrop('payer1', 2 * SOL),
  airdrop('poor', 2_000_000),
  step('transfer', 'payer', [pay('payer', 'alice', 5 * LAMPORTS_PER_SOL)]),
  step('transfer v0', 'payer', [pay('payer', 'bob', 5 * SOL)], { version: 0 }),
  // Apart from all other accounts, because not every node accepts it.
  step('transfer v1', 'payer1', [pay('payer1', 'receiver1', SOL)], { version: 1 }),
  step('transfer by two', 'payer alice', [pay('payer', 'carol', SOL), pay('alice', 'carol', 7)]),
  step('memo', 'payer alice', [memo('hello', 'payer', 'alice')]),
  step('two memos', 'payer', [memo('first'), memo('zwölf €')]),
  step('priority fee', 'payer', [...budget(20_000, 50_000), pay('payer', 'bob', 1)]),
  step('data size limit', 'payer', [dataSizeLimit(64 * 1024), pay('payer', 'bob', 1)]),
];

const accounts: readonly Step[] = [
  step('create account', 'payer data', [create('data', 200, rent(200))]),
  step('create large account', 'payer large', [create('large', 1_000, rent(1_000))]),
  step('allocate and assign', 'payer alone', [
    pay('payer', 'alone', rent(16)),
    SystemProgram.allocate({ accountPubkey: key('alone'), space: 16 }),
    SystemProgram.assign({ accountPubkey: key('alone'), programId: key('owner') }),
  ]),
  step('create with seed', 'payer', [
    SystemProgram.createAccountWithSeed({
      ...{ fromPubkey: key('payer'), newAccountPubkey: SEEDED },
      ...{ basePubkey: key('payer'), seed: SEED, lamports: SOL, space: 0, programId: withSeed.programId },
    }),
  ]),
  step('transfer with seed', 'payer', [
    SystemProgram.transfer({
      ...withSeed,
      ...{ fromPubkey: SEEDED, toPubkey: key('bob'), lamports: 1_000 },
    }),
  ]),
  step('close wallet', 'poor', [pay('poor', 'bob', 1_995_000)]),
];

const failures: readonly Step[] = [
  step('fail: insufficient funds', 'payer', [pay('payer', 'alice', 1_000 * SOL)], { fails: true }),
  step('fail: rent', 'payer', [pay('payer', 'dust', 100)], { fails: true }),
  step('fail: no program', 'payer', [raw(key('absent'), [])], { fails: true }),
  step('fail: not executable', 'payer', [raw(key('alice'), [])], { fails: true }),
  step('fail: no such instruction', 'payer', [raw(SystemProgram.programId, [99, 0, 0, 0])], { fails: true }),
  step('fail: short instruction', 'payer', [raw(SystemProgram.programId, [2])], { fails: true }),
  step('fail: missing signature', 'payer', [unsignedTransfer()], { fails: true }),
  step('fail: compute units', 'payer', [...budget(300, 0), memo('too long for so few units')], {
    fails: true,
  }),
  step('fail: data size', 'payer', [dataSizeLimit(1), pay('payer', 'bob', 1)], { fails: true }),
  step('fail: second instruction', 'payer', [pay('payer', 'bob', 1), pay('payer', 'bob', 1_000 * SOL)], {
    fails: true,
  }),
  step('fail: memo bytes', 'payer', [memo(Buffer.from([0xff, 0xfe]))], { fails: true }),
  step('fail: account exists', 'payer data', [create('data', 10, rent(10))], { fails: true }),
  step('fail: account too large', 'payer huge', [create('huge', 11 * 1024 * 1024, SOL)], { fails: true }),
];

const nonceOf = { noncePubkey: key('nonce'), authorizedPubkey: key('payer') };
const advance = SystemProgram.nonceAdvance(nonceOf);

const nonces: readonly Step[] = [
  step(
    'create nonce',
    'payer nonce',
    SystemProgram.createNonceAccount({
      ...nonceOf,
      ...{ fromPubkey: key('payer'), lamports: rent(NONCE_ACCOUNT_LENGTH) + 1_000_000 },
    }).instructions,
  ),
  step('use nonce', 'payer', [advance, pay('payer', 'bob', 1)], { nonce: 'nonce' }),
  step('fail: nonce transaction', 'payer', [advance, pay('payer', 'bob', 1_000 * SOL)], {
    ...{ nonce: 'nonce', fails: true },
  }),
  step('withdraw from nonce', 'payer', [
    SystemProgram.nonceWithdraw({ ...nonceOf, toPubkey: key('bob'), lamports: 1_000 }),
  ]),
  step('authorize nonce', 'payer', [
    SystemProgram.nonceAuthorize({ ...nonceOf, newAuthorizedPubkey: key('alice') }),
  ]),
  step('fail: nonce authority', 'payer', [SystemProgram.nonceAdvance(nonceOf)], { fails: true }),
];

/** System, memo and compute budget. */
export const systemSteps: readonly Step[] = [...transfers, ...accounts, ...failures, ...nonces];
