import {
  Authorized,
  Keypair,
  PublicKey,
  StakeProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { stakeStatusOf } from '../../src/decoding/stake/stake-accounts.ts';
import { stakeAccounts } from '../../src/rest-api/wallet/stake_accounts.ts';
import { type Address, compareAddresses } from '../../src/solana/address.ts';
import { lamports } from '../../src/solana/units.ts';
import { decoded } from '../solana/decoded-transaction.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';

const RENT = 2_282_880;

let rig: Rig;
let caller: LedgerCaller;
const wallet = Keypair.generate();
const other = Keypair.generate();
const stakes = {
  idle: Keypair.generate(),
  withdrawable: Keypair.generate(),
  fleeting: Keypair.generate(),
};

function run(signers: Keypair[], instructions: TransactionInstruction[]): void {
  const { blockhash } = rig.node.bank('processed');
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: signers[0]!.publicKey });
  transaction.add(...instructions).sign(...signers);
  expect(rig.node.submit(decoded(transaction.serialize()))).toBeNull();
  rig.freeze();
}

const voter = (): PublicKey => new PublicKey(rig.node.genesis.voteAccount);

function create(stake: Keypair, sol: number, staker: Keypair, withdrawer: Keypair): void {
  const { instructions } = StakeProgram.createAccount({
    fromPubkey: wallet.publicKey,
    stakePubkey: stake.publicKey,
    authorized: new Authorized(staker.publicKey, withdrawer.publicKey),
    lamports: sol * SOL + RENT,
  });
  run([wallet, stake], instructions);
}

function delegate(stake: Keypair, staker: Keypair): void {
  const keys = { stakePubkey: stake.publicKey, authorizedPubkey: staker.publicKey, votePubkey: voter() };
  run([wallet, ...(staker === wallet ? [] : [staker])], StakeProgram.delegate(keys).instructions);
}

type Shown = { [name: string]: string | number | null };
type Page = { data: Shown[]; page: number; size: number; total_data: number; total_page: number };

const pageOf = async (fields: object = {}): Promise<Page> => {
  const request = { wallet_address: wallet.publicKey.toBase58(), ...fields };
  return (await answerOf(stakeAccounts, request, caller)).result as unknown as Page;
};
const shownOf = async (stake: Keypair): Promise<Shown> => {
  const { data } = await pageOf();
  return data.find((one) => one.stake_account_address === stake.publicKey.toBase58())!;
};

beforeAll(async () => {
  rig = await openRig();
  caller = new LedgerCaller(rig);
  for (const { publicKey } of [wallet, other]) {
    rig.node.airdrop(at(publicKey), lamports(20n * BigInt(SOL)));
  }
  rig.freeze();
});
afterAll(() => rig.close());

describe('wallet/stake_accounts', () => {
  it('returns an empty list in two calls for a wallet without stakes', async () => {
    await rig.finalize();
    caller.counts();
    expect(await pageOf()).toEqual({ data: [], page: 1, size: 10, total_data: 0, total_page: 0 });
    expect(caller.counts()).toEqual({ getProgramAccounts: 2 });
  });

  it('reports inactive, activating and withdraw-only accounts', async () => {
    create(stakes.idle, 1, wallet, wallet);
    create(stakes.withdrawable, 3, other, wallet);
    create(stakes.fleeting, 4, wallet, other);
    delegate(stakes.withdrawable, other);
    delegate(stakes.fleeting, wallet);
    const keys = { stakePubkey: stakes.fleeting.publicKey, authorizedPubkey: wallet.publicKey };
    run([wallet], StakeProgram.deactivate(keys).instructions);
    await rig.finalize();
    const own = wallet.publicKey.toBase58();
    expect(await shownOf(stakes.idle)).toEqual({
      stake_account_address: stakes.idle.publicKey.toBase58(),
      stake_authority_address: own,
      withdraw_authority_address: own,
      vote_account_address: null,
      ...{ status: 'initialized', total_amount: 1.00228288, rent: 0.00228288 },
      ...{ delegated_amount: 0, active_amount: 0 },
      ...{ activation_epoch: null, deactivation_epoch: null, state: 'inactive' },
    });
    expect(await shownOf(stakes.withdrawable)).toMatchObject({
      stake_authority_address: other.publicKey.toBase58(),
      withdraw_authority_address: own,
      vote_account_address: rig.node.genesis.voteAccount,
      ...{ status: 'delegated', delegated_amount: 3, active_amount: 0 },
      ...{ activation_epoch: 0, deactivation_epoch: null, state: 'activating' },
    });
    expect(await shownOf(stakes.fleeting)).toMatchObject({
      ...{ status: 'delegated', delegated_amount: 4, active_amount: 0, state: 'inactive' },
      ...{ activation_epoch: 0, deactivation_epoch: 0 },
    });
  });

  it.each([
    ['inactive', 0n, 0n, 0n],
    ['active', 1n, 0n, 0n],
    ['activating', 1n, 1n, 0n],
    ['deactivating', 1n, 0n, 1n],
  ])('is %s by its activation', (activity, effective, activating, deactivating) => {
    expect(stakeStatusOf({ effective, activating, deactivating })).toBe(activity);
  });

  it('pages by address in three calls', async () => {
    const all = (await pageOf()).data.map((one) => one.stake_account_address as Address);
    expect(all).toHaveLength(3);
    expect(all).toEqual([...all].sort(compareAddresses));
    caller.counts();
    const second = await pageOf({ page: 2, size: 2 });
    expect(caller.counts()).toEqual({ getProgramAccounts: 2, getMultipleAccounts: 1 });
    expect(second).toMatchObject({ page: 2, size: 2, total_data: 3, total_page: 2 });
    expect(second.data.map((one) => one.stake_account_address)).toEqual(all.slice(2));
    expect((await pageOf({ page: 3, size: 2 })).data).toEqual([]);
  });

  it.each([
    [{ size: 11 }, 'size'],
    [{ size: 0 }, 'size'],
  ])('rejects the field %j', async (fields, field) => {
    const request = { wallet_address: wallet.publicKey.toBase58(), ...fields };
    const failure = await failureOf(stakeAccounts, request, caller);
    expect(failure).toMatchObject({ code: 'INVALID_FIELDS', problems: [{ field }] });
  });

  it('fails when the node lacks the stake history', async () => {
    caller.answering = ({ method, params }) =>
      method === 'getMultipleAccounts'
        ? Promise.resolve({ value: (params[0] as string[]).map(() => null) })
        : undefined;
    const failure = await failureOf(stakeAccounts, { wallet_address: wallet.publicKey.toBase58() }, caller);
    expect(failure.code).toBe('UPSTREAM_UNAVAILABLE');
  });
});
