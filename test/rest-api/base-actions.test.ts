import * as spl from '@solana/spl-token';
import { ComputeBudgetProgram, Keypair, SystemProgram } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { parsed } from '../../src/rest-api/transaction/parsed.ts';
import { answerOf, LedgerCaller } from './ledger-caller.ts';
import { TransactionSender } from './transaction-sender.ts';

const program = spl.TOKEN_2022_PROGRAM_ID;
const protocol = { address: String(program), name: 'TOKEN_2022_PROGRAM' };
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
};

async function shown(...request: Parameters<TransactionSender['send']>): Promise<Shown> {
  const signature = sending.send(...request);
  rig.freeze();
  return (await answerOf(parsed, { txn_signature: signature }, caller)).result as Shown;
}

const infosOf = ({ actions }: Shown) => actions.map(({ type, info }) => ({ type, info }));

it('shows a SOL transfer with fee payer and time', async () => {
  const [from, to] = [sending.wallet(), Keypair.generate()];
  const keys = { fromPubkey: from.publicKey, toPubkey: to.publicKey };
  const actual = await shown(
    [from],
    [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 }),
      SystemProgram.transfer({ ...keys, lamports: 2_500_000 }),
    ],
  );
  const [{ blockTime, signature }] = await rig.result('getSignaturesForAddress', [
    String(to.publicKey),
    { commitment: 'confirmed' },
  ]);
  expect(actual).toEqual({
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

describe('a token', () => {
  let payer: Keypair;
  const mint = Keypair.generate();
  const token_address = String(mint.publicKey);
  const own = () => spl.getAssociatedTokenAddressSync(mint.publicKey, payer.publicKey, true, program);
  beforeAll(() => {
    payer = sending.wallet();
  });

  it('is created and minted, without account setup', async () => {
    const { publicKey } = payer;
    const amount = 18_446_744_073_709_551_615n;
    const made = await shown(
      [payer, mint],
      [
        SystemProgram.createAccount({
          fromPubkey: publicKey,
          newAccountPubkey: mint.publicKey,
          lamports: (spl.MINT_SIZE + 128) * 6960,
          space: spl.MINT_SIZE,
          programId: program,
        }),
        spl.createInitializeMint2Instruction(mint.publicKey, 6, publicKey, null, program),
        spl.createAssociatedTokenAccountInstruction(publicKey, own(), publicKey, mint.publicKey, program),
        spl.createMintToInstruction(mint.publicKey, own(), publicKey, amount, [], program),
      ],
    );
    expect(made).toMatchObject({ type: 'TOKEN_CREATE', protocol });
    const receiver_address = String(publicKey);
    expect(infosOf(made)).toEqual([
      { type: 'TOKEN_CREATE', info: { token_address } },
      {
        type: 'TOKEN_MINT',
        info: { amount: 18_446_744_073_709.55, amount_raw: amount, receiver_address, token_address },
      },
    ]);
    expect(made.token_balance_changes).toEqual([
      {
        ...{ address: String(own()), decimals: 6, mint: token_address, owner: String(publicKey) },
        ...{ change_amount: amount, post_balance: amount, pre_balance: 0 },
      },
    ]);
  });

  it('is burnt by owner or delegate', async () => {
    const delegate = sending.wallet();
    const owner = payer.publicKey;
    const actual = await shown(
      [payer, delegate],
      [
        spl.createApproveInstruction(own(), delegate.publicKey, owner, 500n, [], program),
        spl.createBurnInstruction(own(), mint.publicKey, owner, 1_250_000n, [], program),
        spl.createBurnCheckedInstruction(own(), mint.publicKey, delegate.publicKey, 50n, 6, [], program),
      ],
    );
    expect(actual).toMatchObject({ type: 'TOKEN_BURN', protocol });
    const approval = { amount: '500', delegate: String(delegate.publicKey), owner: String(owner) };
    const burnt = { wallet: String(owner), token_address };
    expect(infosOf(actual)).toEqual([
      { type: 'APPROVE', info: { ...approval, source: String(own()) } },
      { type: 'TOKEN_BURN', info: { ...burnt, amount: 1.25, amount_raw: 1_250_000 } },
      { type: 'TOKEN_BURN', info: { ...burnt, amount: 0.00005, amount_raw: 50 } },
    ]);
  });
});
