import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as kit from '@solana/kit';
import {
  AddressLookupTableProgram,
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  SendTransactionError,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { eventually } from '../../../test/service/eventually.ts';
import { type OpenLocalNode, openLocalNode } from '../src/genesis/open.ts';
import { type LocalnetServer, startLocalnetServer } from '../src/http/server.ts';

/** Real clients on the ledger's HTTP port with running slots. */
let ledgerDir: string;
let node: OpenLocalNode;
let server: LocalnetServer;
let url: string;

beforeAll(async () => {
  ledgerDir = mkdtempSync(join(tmpdir(), 'solway-ledger-'));
  node = await openLocalNode({ ledgerDir, slotMs: 40 });
  server = await startLocalnetServer(node, { port: 0, log: createLogger('silent', () => {}) });
  url = `http://127.0.0.1:${server.port}`;
});
afterAll(async () => {
  await server?.close();
  await node?.stop();
  rmSync(ledgerDir, { recursive: true, force: true });
});

describe('@solana/web3.js v1', () => {
  let connection: Connection;
  let payer: Keypair;
  const settled = (signature: string) =>
    eventually(async () => {
      const status = (await connection.getSignatureStatuses([signature])).value[0];
      return status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized';
    }, `${signature} is confirmed`);

  beforeAll(async () => {
    connection = new Connection(url, { commitment: 'confirmed', disableRetryOnRateLimit: true });
    payer = Keypair.generate();
    await settled(await connection.requestAirdrop(payer.publicKey, 10 * LAMPORTS_PER_SOL));
  });

  it('transfers and finds the transfer in every history method', async () => {
    const to = Keypair.generate().publicKey;
    const transaction = new Transaction({
      feePayer: payer.publicKey,
      ...(await connection.getLatestBlockhash()),
    }).add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: LAMPORTS_PER_SOL }));
    transaction.sign(payer);
    expect((await connection.getFeeForMessage(transaction.compileMessage())).value).toBe(5000);
    const signature = await connection.sendRawTransaction(transaction.serialize());
    await settled(signature);
    expect(await connection.getBalance(to)).toBe(LAMPORTS_PER_SOL);
    const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(found?.meta?.fee).toBe(5000);
    const parsed = await connection.getParsedTransaction(signature);
    expect(parsed?.transaction.message.instructions[0]).toMatchObject({ parsed: { type: 'transfer' } });
    const block = await connection.getBlock(found?.slot ?? 0, { maxSupportedTransactionVersion: 0 });
    expect(block?.transactions.map((entry) => entry.transaction.signatures[0])).toContain(signature);
    expect(await connection.getSignaturesForAddress(to)).toMatchObject([
      { signature, memo: null, err: null },
    ]);
    expect(await connection.getBlockTime(found?.slot ?? 0)).toBe(found?.blockTime);
  });

  it('reads the reason of a rejection', async () => {
    const instruction = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: Keypair.generate().publicKey,
      lamports: 1_000 * LAMPORTS_PER_SOL,
    });
    const sent = connection.sendTransaction(new Transaction().add(instruction), [payer]);
    const refusal = await sent.then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(SendTransactionError);
    expect((refusal as SendTransactionError).logs?.join('\n')).toMatch(/insufficient lamports/);
  });

  it('runs a version 0 transaction with lookup tables', async () => {
    const to = Keypair.generate().publicKey;
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: payer.publicKey,
      payer: payer.publicKey,
      recentSlot: await connection.getSlot('finalized'),
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: payer.publicKey,
      authority: payer.publicKey,
      lookupTable: table,
      addresses: [to],
    });
    await settled(await connection.sendTransaction(new Transaction().add(create, extend), [payer]));
    const lookup = await eventually(async () => {
      const { value } = await connection.getAddressLookupTable(table);
      // Addresses are usable from the next slot on.
      const usable = value !== null && (await connection.getSlot()) > value.state.lastExtendedSlot;
      return usable ? value : null;
    }, 'the table is extended');
    const { blockhash } = await connection.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: payer.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: LAMPORTS_PER_SOL }),
      ],
    }).compileToV0Message([lookup]);
    const transaction = new VersionedTransaction(message);
    transaction.sign([payer]);
    const simulated = await connection.simulateTransaction(transaction, {
      accounts: { encoding: 'base64', addresses: [to.toBase58()] },
    });
    expect(simulated.value.err).toBeNull();
    expect(simulated.value.accounts?.[0]?.lamports).toBe(LAMPORTS_PER_SOL);
    const signature = await connection.sendTransaction(transaction);
    await settled(signature);
    const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(found?.version).toBe(0);
    expect(found?.meta?.loadedAddresses?.writable.map(String)).toEqual([to.toBase58()]);
    expect(await connection.getSignaturesForAddress(to)).toMatchObject([{ signature }]);
  });

  it('reports a missing lookup table', async () => {
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

describe('@solana/kit', () => {
  it('transfers and reads exact amounts', async () => {
    const rpc = kit.createSolanaRpc(url as kit.ClusterUrl) as kit.Rpc<
      kit.SolanaRpcApi & kit.RequestAirdropApi
    >;
    const commitment = 'confirmed';
    const [payer, to] = [await kit.generateKeyPairSigner(), await kit.generateKeyPairSigner()];
    const settled = (signature: kit.Signature) =>
      eventually(async () => {
        const { value } = await rpc.getSignatureStatuses([signature]).send();
        return value[0]?.confirmationStatus === commitment || value[0]?.confirmationStatus === 'finalized';
      }, `${signature} is confirmed`);
    await settled(await rpc.requestAirdrop(payer.address, kit.lamports(5_000_000_000n)).send());
    const { value: blockhash } = await rpc.getLatestBlockhash({ commitment }).send();
    const instruction = getTransferSolInstruction({
      source: payer,
      destination: to.address,
      amount: 1_234_567_891n,
    });
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (m) => kit.setTransactionMessageFeePayerSigner(payer, m),
      (m) => kit.setTransactionMessageLifetimeUsingBlockhash(blockhash, m),
      (m) => kit.appendTransactionMessageInstructions([instruction], m),
    );
    const signed = await kit.signTransactionMessageWithSigners(message);
    const wire = kit.getBase64EncodedWireTransaction(signed);
    const simulated = await rpc
      .simulateTransaction(wire, { encoding: 'base64', commitment, sigVerify: true })
      .send();
    expect(simulated.value.err).toBeNull();
    const signature = await rpc
      .sendTransaction(wire, { encoding: 'base64', preflightCommitment: commitment })
      .send();
    expect(signature).toBe(kit.getSignatureFromTransaction(signed));
    await settled(signature);
    expect((await rpc.getBalance(to.address, { commitment }).send()).value).toBe(1_234_567_891n);
    const found = await rpc
      .getTransaction(signature, { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send();
    expect(found?.meta?.fee).toBe(5000n);
    expect((await rpc.getRecentPrioritizationFees([to.address]).send()).length).toBeGreaterThan(0);
    expect(await rpc.isBlockhashValid(blockhash.blockhash, { commitment }).send()).toMatchObject({
      value: true,
    });
  });
});
