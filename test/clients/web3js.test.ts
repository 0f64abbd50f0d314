import {
  AddressLookupTableProgram,
  type Connection,
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
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../service/eventually.ts';
import { FundedService } from './funded-service.ts';

/** The private subscription state of web3.js. */
type Known = {
  _subscriptionHashByClientSubscriptionId: Record<number, string | undefined>;
  _subscriptionsByHash: Record<string, { state: string } | undefined>;
};

function isListening(connection: Connection, id: number): boolean {
  const known = connection as unknown as Known;
  const hash = known._subscriptionHashByClientSubscriptionId[id] ?? '';
  return known._subscriptionsByHash[hash]?.state === 'subscribed';
}

type FirstUpdate<Update> = readonly [
  listen: (listener: (...observed: [Update, ...unknown[]]) => void) => number,
  unlisten: (id: number) => Promise<void>,
  act?: () => Promise<unknown>,
];

/** The first notification to a web3.js listener; `act` runs when the subscription is acknowledged. */
async function firstUpdate<Update>(
  connection: Connection,
  ...[listen, unlisten, act = async () => {}]: FirstUpdate<Update>
): Promise<Update> {
  const { promise, resolve } = Promise.withResolvers<Update>();
  let isObserved = false;
  const id = listen((value) => {
    isObserved = true;
    resolve(value);
  });
  await eventually(async () => isObserved || isListening(connection, id), 'the client listens');
  await act();
  const value = await promise;
  await unlisten(id);
  return value;
}

/** The published @solana/web3.js v1 against the whole service, from API key to embedded ledger. */
let chain: FundedService;
let connection: Connection;
let payer: Keypair;

beforeAll(async () => {
  chain = await FundedService.start();
  ({ connection, payer } = chain);
}, 60_000);
afterAll(() => chain?.stop());

async function send(instructions: TransactionInstruction[]): Promise<string> {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight });
  transaction.add(...instructions).sign(payer);
  return chain.confirmed(transaction);
}

const first = <Observed>(...observed: FirstUpdate<Observed>): Promise<Observed> =>
  firstUpdate(connection, ...observed);

const airdrop = (to: PublicKey) => () => connection.requestAirdrop(to, LAMPORTS_PER_SOL);

/** Waits for the slot after the one that extended the table, because new entries are usable only then. */
async function pastSlotOf(table: PublicKey): Promise<void> {
  const { value } = await connection.getAddressLookupTable(table);
  const extended = value?.state.lastExtendedSlot ?? 0;
  await eventually(
    async () => (await connection.getSlot()) > extended,
    `a slot after ${extended} is confirmed`,
  );
}

it('transfers lamports, and returns the transaction as json', async () => {
  const to = Keypair.generate().publicKey;
  const before = await connection.getBalance(payer.publicKey);
  const signature = await send([
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: LAMPORTS_PER_SOL }),
  ]);
  const found = await connection.getTransaction(signature, {
    maxSupportedTransactionVersion: 0,
    commitment: 'confirmed',
  });
  expect(found?.transaction.signatures).toEqual([signature]);
  expect(found?.meta).toMatchObject({
    err: null,
    fee: 5000,
    preBalances: [before, 0, 1],
    postBalances: [before - LAMPORTS_PER_SOL - 5000, LAMPORTS_PER_SOL, 1],
  });
  expect(found?.meta?.logMessages).toContain('Program 11111111111111111111111111111111 success');
  expect(found?.blockTime).toBeGreaterThan(1_700_000_000);
});

it('returns the preflight error and logs of a failing transaction', async () => {
  const sending = send([
    SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: Keypair.generate().publicKey,
      lamports: 5_000 * LAMPORTS_PER_SOL,
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
  await send([create, extend]);
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
  await chain.finalized(signature);
  expect(await connection.getBalance(to)).toBe(2_000_000);
  const found = await connection.getTransaction(signature, {
    maxSupportedTransactionVersion: 0,
    commitment: 'confirmed',
  });
  expect(found?.version).toBe(0);
  expect(found?.meta?.loadedAddresses?.writable.map((address) => address.toBase58())).toEqual([
    to.toBase58(),
  ]);
  expect((await connection.getSignaturesForAddress(to)).map((entry) => entry.signature)).toEqual([signature]);
  await expect(connection.getTransaction(signature, { commitment: 'confirmed' })).rejects.toThrow(
    /version \(0\) is not supported/,
  );
});

it('confirms transactions by subscription, even those that landed long before', async () => {
  const to = Keypair.generate().publicKey;
  const signature = await airdrop(to)();
  const latest = await connection.getLatestBlockhash();
  expect((await connection.confirmTransaction({ signature, ...latest })).value.err).toBeNull();
  const late = await first<{ err: unknown }>(
    (listener) => connection.onSignature(signature, listener, 'confirmed'),
    // web3.js removes the listener after the notification.
    async () => {},
  );
  expect(late.err).toBeNull();
  expect(await connection.getBalance(to)).toBe(LAMPORTS_PER_SOL);
});
