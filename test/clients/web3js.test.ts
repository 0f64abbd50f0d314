import {
  AddressLookupTableProgram,
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SendTransactionError,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../service/eventually.ts';
import { type RunningService, startService } from '../service/start-service.ts';

/** The published @solana/web3.js v1 against the whole service: key, gateway, embedded ledger. */
let service: RunningService;
let connection: Connection;

beforeAll(async () => {
  service = await startService();
  connection = new Connection(service.ready.rpcUrl, {
    commitment: 'confirmed',
    httpHeaders: { authorization: `Bearer ${service.key}` },
    disableRetryOnRateLimit: true,
  });
});
afterAll(() => service?.stop());

async function confirmed(signature: string): Promise<void> {
  await eventually(async () => {
    const { value } = await connection.getSignatureStatuses([signature]);
    const status = value[0];
    return status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized';
  }, `${signature} is confirmed`);
}

async function send(
  payer: Keypair,
  instructions: TransactionInstruction[],
  others: Keypair[] = [],
): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions).sign(payer, ...others);
  const signature = await connection.sendRawTransaction(transaction.serialize());
  await confirmed(signature);
  return signature;
}

async function funded(sol = 10): Promise<Keypair> {
  const keypair = Keypair.generate();
  await confirmed(await connection.requestAirdrop(keypair.publicKey, sol * LAMPORTS_PER_SOL));
  return keypair;
}

/** A lookup table entry is usable from the slot after the one that added it. */
async function pastSlotOf(table: PublicKey): Promise<void> {
  const { value } = await connection.getAddressLookupTable(table);
  const extended = value?.state.lastExtendedSlot ?? 0;
  await eventually(
    async () => (await connection.getSlot()) > extended,
    `a slot after ${extended} is confirmed`,
  );
}

describe('@solana/web3.js v1 through the gateway', () => {
  describe('a SOL transfer', () => {
    const to = Keypair.generate().publicKey;
    let payer: Keypair;
    let signature: string;

    beforeAll(async () => {
      payer = await funded();
      signature = await send(payer, [
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: LAMPORTS_PER_SOL }),
      ]);
    });

    it('moves the lamports and charges the fee', async () => {
      expect(await connection.getBalance(to)).toBe(LAMPORTS_PER_SOL);
      expect(await connection.getBalance(payer.publicKey)).toBe(9 * LAMPORTS_PER_SOL - 5000);
    });

    it('is returned by getTransaction as json', async () => {
      const found = await connection.getTransaction(signature, {
        maxSupportedTransactionVersion: 0,
        commitment: 'confirmed',
      });
      expect(found?.transaction.signatures).toEqual([signature]);
      expect(found?.meta).toMatchObject({
        err: null,
        fee: 5000,
        preBalances: [10 * LAMPORTS_PER_SOL, 0, 1],
        postBalances: [9 * LAMPORTS_PER_SOL - 5000, LAMPORTS_PER_SOL, 1],
      });
      expect(found?.meta?.logMessages).toContain('Program 11111111111111111111111111111111 success');
      expect(found?.blockTime).toBeGreaterThan(1_700_000_000);
    });
  });

  it('returns the preflight error and logs of a failing transaction', async () => {
    const payer = await funded(1);
    const sending = send(payer, [
      SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: Keypair.generate().publicKey,
        lamports: 5 * LAMPORTS_PER_SOL,
      }),
    ]);
    const error = await sending.then(
      () => null,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(SendTransactionError);
    expect((error as SendTransactionError).message).toContain(
      'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    );
    expect((error as SendTransactionError).logs).toContain(
      'Program 11111111111111111111111111111111 failed: custom program error: 0x1',
    );
  });

  it('runs a v0 transaction with a lookup table and finds it by a loaded address', async () => {
    const payer = await funded();
    const to = Keypair.generate().publicKey;
    const recentSlot = await connection.getSlot('finalized');
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: payer.publicKey,
      authority: payer.publicKey,
      lookupTable: table,
      addresses: [to],
    });
    await send(payer, [create, extend]);
    await pastSlotOf(table);
    const { value: lookup } = await connection.getAddressLookupTable(table);
    expect(lookup?.state.addresses.map((address) => address.toBase58())).toEqual([to.toBase58()]);

    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 2_000_000 }),
      ],
    }).compileToV0Message([lookup!]);
    expect(message.addressTableLookups).toHaveLength(1);
    const transaction = new VersionedTransaction(message);
    transaction.sign([payer]);
    const signature = await connection.sendTransaction(transaction);
    await confirmed(signature);
    expect(await connection.getBalance(to)).toBe(2_000_000);
    const found = await connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
      commitment: 'confirmed',
    });
    expect(found?.version).toBe(0);
    expect(found?.meta?.loadedAddresses?.writable.map((address) => address.toBase58())).toEqual([
      to.toBase58(),
    ]);
    expect((await connection.getSignaturesForAddress(to)).map((entry) => entry.signature)).toEqual([
      signature,
    ]);
    await expect(connection.getTransaction(signature, { commitment: 'confirmed' })).rejects.toThrow(
      /version \(0\) is not supported/,
    );
  });

  it('reports a missing lookup table', async () => {
    const payer = await funded(1);
    const nowhere = Keypair.generate().publicKey;
    const to = Keypair.generate().publicKey;
    const { blockhash } = await connection.getLatestBlockhash();
    const state = {
      deactivationSlot: 2n ** 64n - 1n,
      lastExtendedSlot: 0,
      lastExtendedSlotStartIndex: 0,
      addresses: [to],
    };
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 1 })],
    }).compileToV0Message([{ key: nowhere, state, isActive: () => true } as never]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([payer]);
    await expect(connection.sendTransaction(transaction)).rejects.toThrow(
      "invalid transaction: Transaction loads an address table account that doesn't exist",
    );
    await expect(connection.getFeeForMessage(message)).rejects.toThrow(
      'invalid transaction message: Attempted to lookup addresses from a table that does not exist',
    );
  });
});
