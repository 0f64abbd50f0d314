import { Keypair, NONCE_ACCOUNT_LENGTH, SystemProgram, Transaction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../solana/base58.ts';
import { parseSubmitRequest } from './submit-request.ts';

const payer = Keypair.generate();
const to = Keypair.generate().publicKey;
const blockhash = encodeBase58(Buffer.alloc(32, 9));

function signed(isDurable = false): Transaction {
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight: 9 });
  if (isDurable) {
    transaction.add(SystemProgram.nonceAdvance({ noncePubkey: to, authorizedPubkey: payer.publicKey }));
  }
  transaction.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1 }));
  transaction.sign(payer);
  return transaction;
}

const wire = signed().serialize();
const base64 = wire.toString('base64');
const params = (...values: unknown[]): Buffer => Buffer.from(JSON.stringify(values));
const sent = (params: Buffer | null): unknown => (params === null ? null : JSON.parse(String(params)));

describe('parseSubmitRequest', () => {
  it('canonicalizes encodings', () => {
    const variants = [
      parseSubmitRequest(params(base64, { encoding: 'base64' })),
      parseSubmitRequest(params(encodeBase58(wire))),
      parseSubmitRequest(params(encodeBase58(wire), { encoding: 'binary' })),
    ];
    const { signature } = signed();
    for (const variant of variants) {
      expect(variant).toMatchObject({ text: base64, signature: encodeBase58(signature!), blockhash });
      expect(sent(variant!.bareParams)).toEqual([
        base64,
        { encoding: 'base64', skipPreflight: true, maxRetries: 0 },
      ]);
    }
  });

  it("passes the sender's options to the first node, but applies maxRetries itself", () => {
    const own = params(base64, { encoding: 'base64', preflightCommitment: 'confirmed', vendor: { a: 1 } });
    expect(parseSubmitRequest(own)).toMatchObject({
      firstNodeParams: own,
      rebroadcastsMax: Number.POSITIVE_INFINITY,
    });
    const counted = parseSubmitRequest(
      params(base64, { encoding: 'base64', maxRetries: 3, minContextSlot: 18_000_000_000_000 }),
    );
    expect(counted).toMatchObject({ rebroadcastsMax: 3 });
    expect(sent(counted!.firstNodeParams)).toEqual([
      base64,
      { encoding: 'base64', maxRetries: 0, minContextSlot: 18_000_000_000_000 },
    ]);
    const listed = parseSubmitRequest(params(base64, [true, null, 'base64', 2, null]));
    expect(listed).toMatchObject({ rebroadcastsMax: 2, skipPreflight: true });
    expect(sent(listed!.firstNodeParams)).toEqual([base64, [true, null, 'base64', 0, null]]);
  });

  it('passes the slot to other nodes if there is no preflight', () => {
    const request = parseSubmitRequest(
      params(base64, { encoding: 'base64', skipPreflight: true, minContextSlot: 7 }),
    );
    expect(sent(request!.otherNodeParams)).toEqual([
      base64,
      { encoding: 'base64', skipPreflight: true, maxRetries: 0, minContextSlot: 7 },
    ]);
    expect(sent(request!.bareParams)).not.toHaveProperty('[1].minContextSlot');
  });

  it('has no blockhash with a durable nonce', () => {
    expect(NONCE_ACCOUNT_LENGTH).toBe(80);
    const durable = signed(true).serialize().toString('base64');
    expect(parseSubmitRequest(params(durable, { encoding: 'base64' }))).toMatchObject({ blockhash: null });
  });

  it('returns null for params that a node would reject', () => {
    const tail = Buffer.concat([wire, Buffer.from([0])]).toString('base64');
    const none = [
      null,
      params(),
      params(5),
      params(base64),
      params(`${base64}=`, { encoding: 'base64' }),
      params(tail, { encoding: 'base64' }),
      params(wire.subarray(0, -1).toString('base64'), { encoding: 'base64' }),
      params(base64, { encoding: 'jsonParsed' }),
      params(base64, { encoding: 'base64', preflightCommitment: 'soon' }),
      params(base64, { encoding: 'base64', maxRetries: -1 }),
      params(base64, { encoding: 'base64' }, 1),
      params('1'.repeat(20_000)),
    ];
    expect(none.map(parseSubmitRequest)).toEqual(none.map(() => null));
  });
});
