import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { encodeBase58 } from '../solana/base58.ts';
import { signatureOfParams } from './transaction-signature.ts';

const params = (...values: unknown[]): Buffer => Buffer.from(JSON.stringify(values));

describe('signatureOfParams', () => {
  it('reads the first signature in base58 and base64', () => {
    const [payer, other] = [Keypair.generate(), Keypair.generate()];
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      blockhash: encodeBase58(new Uint8Array(32)),
      lastValidBlockHeight: 1,
    });
    transaction.add(
      SystemProgram.transfer({ fromPubkey: other.publicKey, toPubkey: payer.publicKey, lamports: 1 }),
    );
    transaction.sign(payer, other);
    const wire = transaction.serialize();
    const expected = encodeBase58(transaction.signature!);
    expect(signatureOfParams(params(encodeBase58(wire)))).toBe(expected);
    expect(signatureOfParams(params(encodeBase58(wire), { skipPreflight: true }))).toBe(expected);
    expect(signatureOfParams(params(wire.toString('base64'), { encoding: 'base64' }))).toBe(expected);
  });

  it('reads the first signature of version 1, which follows the message', () => {
    const message = Buffer.concat([
      Buffer.of(0x81, 1, 0, 0),
      Buffer.alloc(4 + 32),
      Buffer.of(0, 1),
      Buffer.alloc(32),
    ]);
    const text = Buffer.concat([message, Buffer.alloc(64, 9)]).toString('base64');
    expect(signatureOfParams(params(text, { encoding: 'base64' }))).toBe(encodeBase58(Buffer.alloc(64, 9)));
  });

  it('returns null without a signed transaction', () => {
    const none = [
      null,
      params(),
      params(5),
      params('0OIl'),
      params(encodeBase58(Buffer.alloc(80))),
      params('2'),
    ];
    expect(none.map(signatureOfParams)).toEqual(none.map(() => null));
    const unsigned = Buffer.concat([Buffer.from([0x81]), Buffer.alloc(100, 1)]);
    expect(signatureOfParams(params(unsigned.toString('base64'), { encoding: 'base64' }))).toBeNull();
  });
});
