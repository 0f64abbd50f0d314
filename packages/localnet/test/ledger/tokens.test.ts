import {
  createApproveInstruction,
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TransactionMeta } from '../../../../src/solana/transaction/transaction-meta.ts';
import { at, Lab, SOL } from './lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());

const lastMeta = () => lab.node.history.block(lab.node.bank('processed').slot)!.transactions.at(-1)!.meta;

function makeMint(payer: Keypair, program: PublicKey): PublicKey {
  const mint = Keypair.generate();
  const create = SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: mint.publicKey,
    lamports: 1_461_600,
    space: MINT_SIZE,
    programId: program,
  });
  const init = createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null, program);
  expect(lab.run([payer, mint], [create, init])).toBeNull();
  return mint.publicKey;
}

function makeTokenAccount(payer: Keypair, owner: PublicKey, mint: PublicKey, program: PublicKey): PublicKey {
  const account = getAssociatedTokenAddressSync(mint, owner, true, program);
  const create = createAssociatedTokenAccountInstruction(payer.publicKey, account, owner, mint, program);
  expect(lab.run([payer], [create])).toBeNull();
  return account;
}

describe.each([
  ['Token', TOKEN_PROGRAM_ID],
  ['Token-2022', TOKEN_2022_PROGRAM_ID],
])('with the %s program', (_, program) => {
  it('a transfer records balances and is found by wallet, mint and delegate', () => {
    const [payer, alice, bob] = [lab.wallet(), lab.wallet(), Keypair.generate()];
    const mint = makeMint(payer, program);
    const from = makeTokenAccount(payer, alice.publicKey, mint, program);
    const to = makeTokenAccount(payer, bob.publicKey, mint, program);
    expect(
      lab.run([payer], [createMintToInstruction(mint, from, payer.publicKey, 700n, [], program)]),
    ).toBeNull();
    const bank = lab.node.bank('processed');
    const move = createTransferInstruction(from, to, alice.publicKey, 200n, [], program);
    const approve = createApproveInstruction(from, payer.publicKey, alice.publicKey, 5n, [], program);
    expect(lab.run([alice], [move, approve])).toBeNull();

    const balances = (list: TransactionMeta['preTokenBalances']) =>
      Object.fromEntries(list!.map(({ owner, amount }) => [owner, amount]));
    const { preTokenBalances, postTokenBalances } = lastMeta();
    expect(balances(preTokenBalances)).toEqual({
      [alice.publicKey.toBase58()]: 700n,
      [bob.publicKey.toBase58()]: 0n,
    });
    expect(balances(postTokenBalances)).toEqual({
      [alice.publicKey.toBase58()]: 500n,
      [bob.publicKey.toBase58()]: 200n,
    });
    expect(postTokenBalances![0]).toMatchObject({
      decimals: 6,
      mint: mint.toBase58(),
      programId: program.toBase58(),
    });

    const now = lab.node.bank('processed');
    const addresses = (found: Iterable<readonly [string, unknown]>) => [...found].map(([address]) => address);
    expect(addresses(now.tokenAccountsByOwner(at(alice.publicKey)))).toEqual([at(from)]);
    expect(addresses(now.tokenAccountsByMint(at(mint))).sort()).toEqual([at(from), at(to)].sort());
    expect(addresses(now.tokenAccountsByDelegate(at(payer.publicKey)))).toEqual([at(from)]);
    expect(addresses(bank.tokenAccountsByDelegate(at(payer.publicKey)))).toEqual([]);
    expect(addresses(now.accountsByOwner(at(program)))).toContain(at(mint));
  });

  it('records inner instructions', () => {
    const payer = lab.wallet();
    makeTokenAccount(payer, payer.publicKey, makeMint(payer, program), program);
    const [inner] = lastMeta().innerInstructions!;
    expect(inner!.index).toBe(0);
    expect(inner!.instructions.length).toBeGreaterThan(2);
    expect(inner!.instructions.every(({ stackHeight }) => stackHeight! >= 2)).toBe(true);
  });
});

describe('version 0 transaction', () => {
  it('loads keys from a lookup table and is found by all keys', () => {
    const [payer, target] = [lab.wallet(), Keypair.generate().publicKey];
    lab.freeze();
    const [create, tableKey] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: Number(lab.node.bank('processed').slot),
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: tableKey,
      authority: payer.publicKey,
      payer: payer.publicKey,
      addresses: [target],
    });
    expect(lab.run([payer], [create, extend])).toBeNull();
    const data = lab.node.bank('processed').account(at(tableKey))!.data;
    const table = new AddressLookupTableAccount({
      key: tableKey,
      state: AddressLookupTableAccount.deserialize(data),
    });
    const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: target, lamports: SOL });
    const transaction = lab.versioned([payer], [pay], [table]);
    expect(transaction.message.accountKeys).not.toContain(at(target));
    expect(lab.node.submit(transaction)).toBeNull();
    lab.freeze();
    expect(lab.balance(target)).toBe(BigInt(SOL));
    expect(lastMeta().loadedAddresses).toEqual({ writable: [at(target)], readonly: [] });
    expect(lastMeta().postBalances).toHaveLength(3);
    const highestSlot = lab.node.bank('processed').slot;
    for (const key of [at(payer.publicKey), at(target)]) {
      const [newest] = lab.node.history.signaturesForAddress(key, { limit: 1, highestSlot });
      expect(newest).toEqual({ signature: transaction.signatures[0], slot: highestSlot, index: 0 });
    }
  });
});
