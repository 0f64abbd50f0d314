import { Keypair, PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { addressFromBytes } from './address.ts';
import { blockhashFromBytes } from './blockhash.ts';
import { decodeMessage, type Message } from './message/message.ts';
import { decodeNonce, durableNonceOf, encodeNonce, type Nonce, nonceOfTransaction } from './nonce.ts';

const authority = addressFromBytes(new Uint8Array(32).fill(4));
const nonce: Nonce = {
  version: 'current',
  data: {
    authority,
    durableNonce: blockhashFromBytes(new Uint8Array(32).fill(5)),
    lamportsPerSignature: 5000n,
  },
};

describe('nonce account', () => {
  it('round-trips, initialized or not, current or legacy', () => {
    for (const version of ['legacy', 'current'] as const) {
      for (const data of [null, nonce.data]) {
        const bytes = encodeNonce({ version, data });
        expect(bytes).toHaveLength(80);
        expect(decodeNonce(bytes)).toEqual({ version, data });
      }
    }
  });

  it('requires 80 bytes and a known version', () => {
    const bytes = encodeNonce(nonce);
    expect(decodeNonce(bytes.subarray(1))).toBeNull();
    expect(decodeNonce(Uint8Array.from(bytes).fill(2, 0, 1))).toBeNull();
    expect(decodeNonce(Uint8Array.from(bytes).fill(2, 4, 5))).toBeNull();
  });
});

it('durable nonce is the hash of domain and blockhash', () => {
  // sha256("DURABLE_NONCE" followed by 32 zero bytes), from coreutils' sha256sum.
  expect(durableNonceOf(blockhashFromBytes(new Uint8Array(32)))).toBe(
    blockhashFromBytes(
      Buffer.from('7a3bd5cdf290098e5b4c8f9957f9899210b8bbe9064f72b326cc212eab476f8a', 'hex'),
    ),
  );
});

describe('nonceOfTransaction', () => {
  const [payer, account] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const advance = SystemProgram.nonceAdvance({ noncePubkey: account, authorizedPubkey: payer });
  const transfer = SystemProgram.transfer({ fromPubkey: payer, toPubkey: account, lamports: 1 });

  function messageOf(...instructions: (typeof advance)[]): Message {
    const bytes = new TransactionMessage({
      payerKey: payer,
      recentBlockhash: PublicKey.unique().toBase58(),
      instructions,
    })
      .compileToLegacyMessage()
      .serialize();
    const decoded = decodeMessage(bytes);
    if ('fault' in decoded) throw new Error(decoded.fault);
    return decoded.message;
  }

  const withFirst = (message: Message, change: Partial<Message['instructions'][number]>): Message => ({
    ...message,
    instructions: message.instructions.map((instruction, at) =>
      at === 0 ? { ...instruction, ...change } : instruction,
    ),
  });

  it('detects AdvanceNonceAccount as first instruction', () => {
    expect(nonceOfTransaction(messageOf(advance, transfer))).toEqual({
      account: account.toBase58(),
      authority: payer.toBase58(),
      signers: [payer.toBase58()],
    });
  });

  it('allows trailing instruction data', () => {
    const message = withFirst(messageOf(advance), { data: Uint8Array.of(4, 0, 0, 0, 9) });
    expect(nonceOfTransaction(message)).not.toBeNull();
  });

  it('ignores later, truncated, foreign and readonly instructions', () => {
    const message = messageOf(advance);
    const { header } = message;
    expect(nonceOfTransaction(messageOf(transfer, advance))).toBeNull();
    expect(nonceOfTransaction(messageOf())).toBeNull();
    expect(nonceOfTransaction(withFirst(message, { data: Uint8Array.of(4, 0, 0) }))).toBeNull();
    expect(nonceOfTransaction(withFirst(message, { data: Uint8Array.of(4, 1, 0, 0) }))).toBeNull();
    expect(nonceOfTransaction(withFirst(message, { accounts: new Uint8Array() }))).toBeNull();
    expect(nonceOfTransaction(withFirst(message, { accounts: Uint8Array.of(200) }))).toBeNull();
    expect(nonceOfTransaction(withFirst(message, { programIdIndex: 1 }))).toBeNull();
    expect(
      nonceOfTransaction({ ...message, header: { ...header, numReadonlyUnsignedAccounts: 3 } }),
    ).toBeNull();
  });
});
