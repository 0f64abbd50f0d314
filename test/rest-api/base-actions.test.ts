import * as spl from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOL } from '../../packages/localnet/test/ledger/lab.ts';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { parsed } from '../../src/rest-api/transaction/parsed.ts';
import { raw } from '../../src/rest-api/transaction/raw.ts';
import { answerOf, LedgerCaller } from './ledger-caller.ts';
import { TransactionSender } from './transaction-sender.ts';

const TOKEN_2022 = { address: String(spl.TOKEN_2022_PROGRAM_ID), name: 'TOKEN_2022_PROGRAM' };
const SYSTEM = { address: String(SystemProgram.programId), name: 'SYSTEM_PROGRAM' };

let rig: Rig;
let caller: LedgerCaller;
let sending: TransactionSender;

beforeAll(async () => {
  rig = await openRig();
  caller = new LedgerCaller(rig);
  sending = new TransactionSender(rig);
});
afterAll(() => rig.close());

type Shown = Record<string, JsonValue> & {
  actions: { type: string; info: Record<string, JsonValue> }[];
  type: string;
};

function send(...request: Parameters<TransactionSender['send']>): string {
  const signature = sending.send(...request);
  rig.freeze();
  return signature;
}

async function shown(signature: string): Promise<Shown> {
  const { result } = await answerOf(parsed, { txn_signature: signature }, caller);
  return result as Shown;
}

const actionsOf = async (...request: Parameters<TransactionSender['send']>) =>
  (await shown(send(...request))).actions;

const rent = (bytes: number): number => (bytes + 128) * 6960;

const createMint = (payer: Keypair, mint: Keypair, decimals: number, program: PublicKey) => [
  SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: mint.publicKey,
    lamports: rent(spl.MINT_SIZE),
    space: spl.MINT_SIZE,
    programId: program,
  }),
  spl.createInitializeMint2Instruction(mint.publicKey, decimals, payer.publicKey, null, program),
];

const accountOf = (owner: PublicKey, mint: Keypair, program: PublicKey): PublicKey =>
  spl.getAssociatedTokenAddressSync(mint.publicKey, owner, true, program);

const createAccount = (payer: Keypair, owner: PublicKey, mint: Keypair, program: PublicKey) =>
  spl.createAssociatedTokenAccountInstruction(
    payer.publicKey,
    accountOf(owner, mint, program),
    owner,
    mint.publicKey,
    program,
  );

function tokenOf(payer: Keypair, decimals: number, amount: bigint, program: PublicKey): Keypair {
  const mint = Keypair.generate();
  const own = accountOf(payer.publicKey, mint, program);
  send(
    [payer, mint],
    [
      ...createMint(payer, mint, decimals, program),
      createAccount(payer, payer.publicKey, mint, program),
      spl.createMintToInstruction(mint.publicKey, own, payer.publicKey, amount, [], program),
    ],
  );
  return mint;
}

describe('SOL transfers', () => {
  it('are SOL_TRANSFER with fee payer and time', async () => {
    const [from, to] = [sending.wallet(), Keypair.generate()];
    const keys = { fromPubkey: from.publicKey, toPubkey: to.publicKey };
    const signature = send(
      [from],
      [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 }),
        SystemProgram.transfer({ ...keys, lamports: 2_500_000 }),
      ],
    );
    const [{ blockTime }] = await rig.result('getSignaturesForAddress', [
      String(to.publicKey),
      { commitment: 'confirmed' },
    ]);
    expect(await shown(signature)).toEqual({
      timestamp: new Date(blockTime * 1000).toISOString(),
      fee: 0.000005,
      fee_payer: String(from.publicKey),
      signers: [String(from.publicKey)],
      signatures: [signature],
      protocol: SYSTEM,
      type: 'SOL_TRANSFER',
      status: 'Success',
      token_balance_changes: [],
      actions: [
        {
          info: {
            sender: String(from.publicKey),
            receiver: String(to.publicKey),
            amount: 0.0025,
            amount_raw: 2_500_000,
          },
          source_protocol: SYSTEM,
          type: 'SOL_TRANSFER',
          ix_index: 1,
        },
      ],
      events: [],
    });
  });

  it('include transfers with seed and failed ones', async () => {
    const from = sending.wallet();
    const derived = await PublicKey.createWithSeed(from.publicKey, 'purse', SystemProgram.programId);
    const keys = { basePubkey: from.publicKey, seed: 'purse', programId: SystemProgram.programId };
    send([from], [SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: derived, lamports: SOL })]);
    const [back] = await actionsOf(
      [from],
      [SystemProgram.transfer({ ...keys, fromPubkey: derived, toPubkey: from.publicKey, lamports: 7 })],
    );
    expect(back).toMatchObject({
      type: 'SOL_TRANSFER',
      info: { sender: String(derived), receiver: String(from.publicKey), amount: 7e-9, amount_raw: 7 },
    });
    const failing = SystemProgram.transfer({
      fromPubkey: from.publicKey,
      toPubkey: derived,
      lamports: 100 * SOL,
    });
    const failed = await shown(send([from], [failing], { InstructionError: [0, { Custom: 1 }] }));
    expect(failed).toMatchObject({
      status: 'Fail',
      type: 'SOL_TRANSFER',
      events: [],
      token_balance_changes: [],
    });
  });
});

describe('tokens of the Token-2022 program', () => {
  const program = spl.TOKEN_2022_PROGRAM_ID;
  const protocol = TOKEN_2022;

  it('are TOKEN_CREATE and TOKEN_MINT when created, without account setup', async () => {
    const payer = sending.wallet();
    const mint = Keypair.generate();
    const own = accountOf(payer.publicKey, mint, program);
    const made = await shown(
      send(
        [payer, mint],
        [
          ...createMint(payer, mint, 6, program),
          createAccount(payer, payer.publicKey, mint, program),
          spl.createMintToInstruction(
            mint.publicKey,
            own,
            payer.publicKey,
            18_446_744_073_709_551_615n,
            [],
            program,
          ),
        ],
      ),
    );
    const token_address = String(mint.publicKey);
    expect(made).toMatchObject({ type: 'TOKEN_CREATE', protocol });
    expect(made.actions.map(({ type, info }) => ({ type, info }))).toEqual([
      { type: 'TOKEN_CREATE', info: { token_address } },
      {
        type: 'TOKEN_MINT',
        info: {
          amount: 18_446_744_073_709.55,
          amount_raw: 18_446_744_073_709_551_615n,
          receiver_address: String(payer.publicKey),
          token_address,
        },
      },
    ]);
    expect(made.token_balance_changes).toEqual([
      {
        address: String(own),
        decimals: 6,
        change_amount: 18_446_744_073_709_551_615n,
        post_balance: 18_446_744_073_709_551_615n,
        pre_balance: 0,
        mint: token_address,
        owner: String(payer.publicKey),
      },
    ]);
  });

  it('are TOKEN_BURN when burnt by owner or delegate', async () => {
    const [payer, delegate] = [sending.wallet(), sending.wallet()];
    const mint = tokenOf(payer, 2, 1_000n, program);
    const own = accountOf(payer.publicKey, mint, program);
    const approve = spl.createApproveInstruction(own, delegate.publicKey, payer.publicKey, 500n, [], program);
    const actual = await shown(
      send(
        [payer, delegate],
        [
          approve,
          spl.createBurnInstruction(own, mint.publicKey, payer.publicKey, 125n, [], program),
          spl.createBurnCheckedInstruction(own, mint.publicKey, delegate.publicKey, 50n, 2, [], program),
        ],
      ),
    );
    expect(actual).toMatchObject({ type: 'TOKEN_BURN', protocol });
    expect(actual.actions.map(({ type, info }) => ({ type, info }))).toEqual([
      {
        type: 'APPROVE',
        info: {
          amount: '500',
          delegate: String(delegate.publicKey),
          owner: String(payer.publicKey),
          source: String(own),
        },
      },
      ...[
        [1.25, 125],
        [0.5, 50],
      ].map(([amount, amount_raw]) => ({
        type: 'TOKEN_BURN',
        info: { wallet: String(payer.publicKey), amount, amount_raw, token_address: String(mint.publicKey) },
      })),
    ]);
  });
});

describe('version 0 message', () => {
  it('includes keys from lookup tables', async () => {
    const [payer, to] = [sending.wallet(), Keypair.generate()];
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: rig.slot('processed') - 1,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: payer.publicKey,
      authority: payer.publicKey,
      lookupTable: table,
      addresses: [to.publicKey],
    });
    const made = await actionsOf([payer], [create, extend]);
    expect(made.map(({ type }) => type)).toEqual([
      'CREATELOOKUPTABLE',
      'EXTENDLOOKUPTABLE',
      'SOL_TRANSFER',
      'SOL_TRANSFER',
    ]);
    const state = AddressLookupTableAccount.deserialize(
      Buffer.from(rig.node.bank('processed').account(String(table) as never)!.data),
    );
    const transfer = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: to.publicKey,
      lamports: SOL,
    });
    const signature = sending.sendWithTables(
      [payer],
      [transfer],
      [new AddressLookupTableAccount({ key: table, state })],
    );
    rig.freeze();
    expect((await shown(signature)).actions).toMatchObject([
      { type: 'SOL_TRANSFER', info: { receiver: String(to.publicKey), amount: 1 } },
    ]);
    const { result } = await answerOf(raw, { txn_signature: signature }, caller);
    expect(result).toMatchObject({ version: 0, meta: {}, parsed: { type: 'SOL_TRANSFER' } });
  });
});
