import * as kit from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { describe, expect, it } from 'vitest';
import { decoded, faultIn } from '../../../test/solana/decoded-transaction.ts';
import { verifyTransaction } from '../ed25519.ts';
import { encodeMessage, type Message } from '../message/message.ts';
import { signatureBytes } from '../signature.ts';
import { computeBudgetOf, feeOf } from './compute-budget.ts';
import { encodeTransaction } from './encode-transaction.ts';
import { messageFault } from './sanitize-transaction.ts';

type KitConfig = Parameters<typeof kit.setTransactionMessageConfig>[0];

/** Two signers, of which the second is not writable. */
async function kitTransfer(config: KitConfig): Promise<Uint8Array> {
  const [payer, source] = await Promise.all([kit.generateKeyPairSigner(), kit.generateKeyPairSigner()]);
  const lifetime = { blockhash: source.address as string as kit.Blockhash, lastValidBlockHeight: 1n };
  const message = kit.pipe(
    kit.createTransactionMessage({ version: 1 }),
    (draft) => kit.setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    (draft) => kit.setTransactionMessageConfig(config, draft),
    (draft) =>
      kit.appendTransactionMessageInstruction(
        getTransferSolInstruction({ source, destination: payer.address, amount: 7n }),
        draft,
      ),
  );
  const signed = await kit.signTransactionMessageWithSigners(message);
  return Uint8Array.from(kit.getTransactionEncoder().encode(signed));
}

const wire = await kitTransfer({ computeUnitLimit: 1_000, priorityFeeLamports: 5n });
const { message } = decoded(wire);

const patched = (offset: number, byte: number): Uint8Array =>
  Uint8Array.from(wire).fill(byte, offset, offset + 1);

describe('version 1 codec', () => {
  it.each<[string, KitConfig]>([
    ['no configuration', {}],
    ['one value', { heapSize: 65_536 }],
    [
      'all values',
      {
        priorityFeeLamports: 2n ** 60n,
        computeUnitLimit: 9,
        loadedAccountsDataSizeLimit: 8,
        heapSize: 32_768,
      },
    ],
  ])('matches kit with %s', async (_case, config) => {
    const bytes = await kitTransfer(config);
    const transaction = decoded(bytes);
    expect(transaction.message).toMatchObject({
      version: 1,
      header: { numRequiredSignatures: 2, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 },
      config: {
        priorityFee: config.priorityFeeLamports ?? null,
        computeUnitLimit: config.computeUnitLimit ?? null,
        loadedAccountsDataSizeLimit: config.loadedAccountsDataSizeLimit ?? null,
        heapSize: config.heapSize ?? null,
      },
    });
    expect(verifyTransaction(transaction)).toBe(true);
    const signatures = transaction.signatures.map(signatureBytes);
    expect(encodeTransaction(signatures, encodeMessage(transaction.message))).toEqual(bytes);
  });

  it('rejects truncation and trailing bytes', () => {
    for (let length = 1; length < wire.length; length++) {
      expect(faultIn(wire.subarray(0, length))).toMatch(/^Attempting to read \d+ bytes$/);
    }
    expect(faultIn(Uint8Array.from([...wire, 0]))).toBe('Trailing bytes remain after deserialization');
  });

  it.each([
    ['an unknown bit', 0b10_0111],
    ['half a priority fee', 0b101],
  ])('rejects a mask with %s', (_case, mask) => {
    expect(faultIn(patched(4, mask))).toBe('Invalid value: invalid transaction config mask');
  });

  it('rejects a version 1 message that follows its signatures', () => {
    const messageBytes = encodeMessage(message);
    expect(faultIn(Uint8Array.from([0, ...messageBytes]))).toBe('Custom error: invalid message version');
  });

  it('rejects more than 4096 bytes', () => {
    expect(faultIn(patched(4, 0).with(0, 0x81))).not.toMatch(/too large/);
    const long = new Uint8Array(4097);
    long.set(wire);
    expect(faultIn(long)).toBe('transaction too large: 4097 bytes (max: 4096)');
  });
});

describe('version 1 limits', () => {
  const keys = Array.from({ length: 65 }, (_, index) => `key ${index}` as Message['accountKeys'][number]);
  const header = { numRequiredSignatures: 13, numReadonlySignedAccounts: 0, numReadonlyUnsignedAccounts: 1 };
  const [instruction] = message.instructions;

  it.each<[string, Partial<Message>, ReturnType<typeof messageFault>]>([
    ['none', {}, null],
    ['64 keys', { accountKeys: keys.slice(1) }, null],
    ['65 keys', { accountKeys: keys }, 'index out of bounds'],
    ['13 signatures', { accountKeys: keys.slice(0, 20), header }, 'index out of bounds'],
    ['65 instructions', { instructions: Array(65).fill(instruction) }, 'index out of bounds'],
    [
      'a duplicate key',
      { accountKeys: [...message.accountKeys.slice(0, 2), keys[0]!, keys[0]!] },
      'invalid value',
    ],
    ['an unaligned heap', { config: { ...message.config!, heapSize: 32_769 } }, 'invalid value'],
  ])('with %s', (_case, change, fault) => {
    expect(messageFault({ ...message, ...change })).toBe(fault);
  });
});

it('takes the budget of version 1 from its configuration, where values that are missing are 0', () => {
  expect(computeBudgetOf(message)).toEqual({
    unitLimit: 1_000,
    priorityFee: 5n,
    loadedAccountsDataSizeLimit: 0,
    heapBytes: 32 * 1024,
  });
  expect(feeOf(message)).toBe(10_005n);
});
