import { Keypair, NONCE_ACCOUNT_LENGTH, NonceAccount, SystemProgram } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import { durableNonceOf, encodeNonce } from '../../../../src/solana/nonce.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { getFeeForMessage } from '../../src/rpc/getFeeForMessage.ts';
import { at, Lab, SOL } from './lab.ts';

let lab: Lab;
let authority: Keypair;
let nonce: Keypair;
beforeAll(async () => {
  lab = await Lab.open();
});
afterAll(() => lab.close());
beforeEach(() => {
  [authority, nonce] = [lab.wallet(), Keypair.generate()];
  const make = SystemProgram.createNonceAccount({
    fromPubkey: authority.publicKey,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: authority.publicKey,
    lamports: 1_500_000,
  });
  expect(lab.run([authority, nonce], make.instructions)).toBeNull();
  expect(lab.node.bank('processed').account(at(nonce.publicKey))?.data).toHaveLength(NONCE_ACCOUNT_LENGTH);
});

const stored = () =>
  NonceAccount.fromAccountData(lab.node.bank('processed').account(at(nonce.publicKey))!.data).nonce;
const advance = (by = authority) =>
  SystemProgram.nonceAdvance({ noncePubkey: nonce.publicKey, authorizedPubkey: by.publicKey });
const transfer = (to: Keypair, amount: number) =>
  SystemProgram.transfer({ fromPubkey: authority.publicKey, toPubkey: to.publicKey, lamports: amount });
const parentHash = () => {
  const { slot } = lab.node.bank('processed');
  return lab.node.history.block(slot)!.previousBlockhash;
};

describe('durable nonce', () => {
  it('lets a transaction run once, long after a blockhash would have expired', () => {
    const to = Keypair.generate();
    const transaction = lab.legacy([authority], [advance(), transfer(to, SOL)], stored());
    lab.freeze(400);
    expect(lab.node.submit(transaction)).toBeNull();
    expect(lab.node.submit(transaction)).toBe('BlockhashNotFound');
    lab.freeze();
    expect(stored()).toBe(durableNonceOf(parentHash()));
    expect(lab.node.submit(transaction)).toBe('BlockhashNotFound');
    lab.freeze(400);
    expect(lab.node.submit(transaction)).toBe('BlockhashNotFound');
    expect(lab.balance(to.publicKey)).toBe(BigInt(SOL));
  });

  it('advances even when its transaction fails', () => {
    const before = stored();
    const transaction = lab.legacy([authority], [advance(), transfer(nonce, 100 * SOL)], before);
    lab.freeze();
    expect(lab.node.submit(transaction)).toEqual({ InstructionError: [1, { Custom: 1 }] });
    lab.freeze();
    expect(stored()).toBe(durableNonceOf(parentHash()));
    expect(lab.node.submit(transaction)).toBe('BlockhashNotFound');
  });

  it('requires its authority', () => {
    const stranger = lab.wallet();
    const transaction = lab.legacy([stranger], [advance(stranger)], stored());
    lab.freeze();
    expect(lab.node.submit(transaction)).toBe('BlockhashNotFound');
  });

  it('of the legacy version makes a transaction invalid and has no fee', async () => {
    const [owner, key] = [Keypair.generate(), Keypair.generate().publicKey];
    const hash = Keypair.generate().publicKey.toBase58() as Blockhash;
    const data = { authority: at(owner.publicKey), durableNonce: hash, lamportsPerSignature: 5000n };
    const account = {
      ...{ lamports: lamports(1_500_000), data: encodeNonce({ version: 'legacy', data }) },
      ...{ owner: programs.system, executable: false, rentEpoch: 2n ** 64n - 1n },
    };
    const own = await Lab.open({ accounts: [[at(key), account]] });
    own.node.airdrop(at(owner.publicKey), lamports(BigInt(SOL)));
    own.freeze();
    const instruction = SystemProgram.nonceAdvance({ noncePubkey: key, authorizedPubkey: owner.publicKey });
    const transaction = own.legacy([owner], [instruction], hash);
    const message = Buffer.from(transaction.messageBytes).toString('base64');
    const fee = getFeeForMessage(own.node, [message, { commitment: 'processed' }]);
    expect(fee).toMatchObject({ value: null });
    expect(own.node.submit(transaction)).toBe('BlockhashNotFound');
    await own.close();
  });
});
