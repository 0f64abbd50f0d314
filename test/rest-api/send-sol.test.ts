import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { Keypair, SystemInstruction, Transaction } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import type { WritableJson } from '../../src/base/json.ts';
import { sendSol } from '../../src/rest-api/wallet/send_sol.ts';
import { lamports } from '../../src/solana/units.ts';
import { decoded } from '../solana/decoded-transaction.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';

let rig: Rig;
let caller: LedgerCaller;
const from = Keypair.generate();
beforeAll(async () => {
  rig = await openRig();
  rig.node.airdrop(at(from.publicKey), lamports(100n * BigInt(SOL)));
  rig.freeze(2);
  caller = new LedgerCaller(rig);
});
afterAll(() => rig.close());

const fieldsOf = (amount: WritableJson, to = Keypair.generate()) => ({
  from_address: from.publicKey.toBase58(),
  to_address: to.publicKey.toBase58(),
  amount,
});

async function made(amount: WritableJson, to = Keypair.generate()): Promise<Buffer> {
  const { result } = await answerOf(sendSol, fieldsOf(amount, to), caller);
  return Buffer.from((result as { encoded_transaction: string }).encoded_transaction, 'base64');
}

describe('wallet/send_sol', () => {
  it('builds a legacy transaction with one all-zero signature that clients can read', async () => {
    const to = Keypair.generate();
    caller.counts();
    const { message } = await answerOf(sendSol, fieldsOf(1.5, to), caller);
    expect(message).toBe('1.5 SOL transfer request generated successfully');
    expect(caller.counts()).toEqual({ getLatestBlockhash: 1 });
    const wire = await made(1.5, to);

    const legacy = Transaction.from(wire);
    expect(legacy.feePayer?.equals(from.publicKey)).toBe(true);
    expect(legacy.signatures).toEqual([{ publicKey: from.publicKey, signature: null }]);
    expect(legacy.instructions).toHaveLength(1);
    expect(SystemInstruction.decodeTransfer(legacy.instructions[0]!)).toEqual({
      ...{ fromPubkey: from.publicKey, toPubkey: to.publicKey },
      lamports: 1_500_000_000n,
    });

    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    expect(signatures).toEqual({ [from.publicKey.toBase58()]: null });
    expect(getCompiledTransactionMessageDecoder().decode(messageBytes)).toMatchObject({
      ...{ version: 'legacy', header: { numSignerAccounts: 1 } },
      lifetimeToken: rig.node.bank('confirmed').blockhash,
    });
  });

  it.each([
    [1, 1_000_000_000n],
    [1.000000001, 1_000_000_001n],
  ])('moves exactly %s SOL once signed', async (amount, moved) => {
    const to = Keypair.generate();
    const transaction = Transaction.from(await made(amount, to));
    transaction.sign(from);
    expect(rig.node.submit(decoded(transaction.serialize()))).toBeNull();
    rig.freeze();
    expect(rig.node.bank('processed').account(at(to.publicKey))?.lamports).toBe(moved);
  });

  it.each([0, -1, 1e-10, 'Infinity', 18_446_744_074, true])('rejects an amount of %j', async (amount) => {
    const failure = await failureOf(sendSol, fieldsOf(amount as WritableJson), caller);
    expect(failure).toMatchObject({ code: 'INVALID_FIELDS', problems: [{ field: 'amount' }] });
  });
});
