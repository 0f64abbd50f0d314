import * as kit from '@solana/kit';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SystemProgram,
  Transaction,
} from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { type FirstUpdate, firstUpdate } from './first-update.ts';

/** Published clients against the whole service: key, gateway, topic, feed, embedded ledger. */
let service: RunningService;
let wsEndpoint: string;

beforeAll(async () => {
  service = await startService();
  wsEndpoint = `${service.ready.wsUrl}?api-key=${service.key}`;
});
afterAll(() => service?.stop());

describe('@solana/web3.js v1 through the gateway', () => {
  let connection: Connection;

  beforeAll(() => {
    connection = new Connection(service.ready.rpcUrl, {
      commitment: 'confirmed',
      wsEndpoint,
      httpHeaders: { authorization: `Bearer ${service.key}` },
      disableRetryOnRateLimit: true,
    });
  });
  afterAll(() => {
    // web3.js has no public close method.
    (connection as unknown as { _rpcWebSocket: { close(): void } })._rpcWebSocket.close();
  });

  const first = <Observed>(...observed: FirstUpdate<Observed>): Promise<Observed> =>
    firstUpdate(connection, ...observed);

  const airdrop = (to: PublicKey) => () => connection.requestAirdrop(to, LAMPORTS_PER_SOL);

  it('confirms by subscription, also a transaction that landed long before', async () => {
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

  it('receives a receivedSignature notification', async () => {
    const payer = Keypair.generate();
    const latest = await connection.getLatestBlockhash();
    const funding = await airdrop(payer.publicKey)();
    await connection.confirmTransaction({ signature: funding, ...latest });
    const transfer = { fromPubkey: payer.publicKey, toPubkey: payer.publicKey, lamports: 1 };
    const transaction = new Transaction({ feePayer: payer.publicKey, ...latest });
    transaction.add(SystemProgram.transfer(transfer)).sign(payer);
    const signature = encodeBase58(transaction.signature as Uint8Array);
    const options = { commitment: 'confirmed', enableReceivedNotification: true } as const;
    const observed = await first<object>(
      (listener) => connection.onSignatureWithOptions(signature, listener, options),
      // web3.js unsubscribes after the first notification.
      async () => {},
      () => connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true }),
    );
    expect(observed).toEqual({ type: 'received' });
  });

  it('receives account, filtered program and log notifications', async () => {
    const [one, two, three] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
    const account = await first<{ lamports: number }>(
      (listener) => connection.onAccountChange(one.publicKey, listener, { commitment: 'confirmed' }),
      (id) => connection.removeAccountChangeListener(id),
      airdrop(one.publicKey),
    );
    expect(account.lamports).toBe(LAMPORTS_PER_SOL);
    const program = await first<{ accountInfo: { owner: PublicKey } }>(
      (listener) =>
        connection.onProgramAccountChange(SystemProgram.programId, listener, {
          commitment: 'confirmed',
          filters: [{ dataSize: 0 }],
        }),
      (id) => connection.removeProgramAccountChangeListener(id),
      airdrop(two.publicKey),
    );
    expect(program.accountInfo.owner.equals(SystemProgram.programId)).toBe(true);
    for (const of of [three.publicKey, 'all'] as const) {
      const logs = await first<{ err: unknown; logs: string[] }>(
        (listener) => connection.onLogs(of, listener, 'confirmed'),
        (id) => connection.removeOnLogsListener(id),
        airdrop(three.publicKey),
      );
      expect(logs).toMatchObject({ err: null, logs: expect.arrayContaining([expect.any(String)]) });
    }
  });

  it('receives slot, slotsUpdates and root notifications', async () => {
    const slot = await first<{ slot: number; parent: number }>(
      (listener) => connection.onSlotChange(listener),
      (id) => connection.removeSlotChangeListener(id),
    );
    expect(slot.parent).toBe(slot.slot - 1);
    const update = await first<{ type: string }>(
      (listener) => connection.onSlotUpdate(listener),
      (id) => connection.removeSlotUpdateListener(id),
    );
    expect(['completed', 'frozen', 'optimisticConfirmation', 'root', 'createdBank']).toContain(update.type);
    const root = await first<number>(
      (listener) => connection.onRootChange(listener),
      (id) => connection.removeRootChangeListener(id),
    );
    expect(root).toBeGreaterThanOrEqual(0);
  });
});

describe('@solana/kit through the gateway', () => {
  const rpcOf = () =>
    kit.createSolanaRpcFromTransport(
      kit.createDefaultRpcTransport({
        url: service.ready.rpcUrl,
        headers: { authorization: `Bearer ${service.key}` },
      }),
    );
  const subscriptionsOf = () => kit.createSolanaRpcSubscriptions(wsEndpoint);
  const confirmed = { commitment: 'confirmed' } as const;

  async function first<Observed>(
    pending: { subscribe(options: { abortSignal: AbortSignal }): Promise<AsyncIterable<Observed>> },
    act: () => Promise<unknown> = async () => {},
  ): Promise<Observed> {
    const abort = new AbortController();
    const observed = await pending.subscribe({ abortSignal: abort.signal });
    const next = observed[Symbol.asyncIterator]().next();
    await act();
    const { value } = await next;
    abort.abort();
    return value as Observed;
  }

  const airdrop = (to: kit.Address) => rpcOf().requestAirdrop(to, kit.lamports(1_000_000_000n)).send();

  it('confirms an airdrop and a transfer by subscriptions', async () => {
    const [rpc, rpcSubscriptions] = [rpcOf(), subscriptionsOf()];
    const [payer, to] = await Promise.all([kit.generateKeyPairSigner(), kit.generateKeyPairSigner()]);
    await kit.airdropFactory({ rpc, rpcSubscriptions } as never)({
      recipientAddress: payer.address,
      lamports: kit.lamports(5_000_000_000n),
      commitment: 'confirmed',
    });
    const { value: blockhash } = await rpc.getLatestBlockhash(confirmed).send();
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (draft) => kit.setTransactionMessageFeePayerSigner(payer, draft),
      (draft) => kit.setTransactionMessageLifetimeUsingBlockhash(blockhash, draft),
      (draft) =>
        kit.appendTransactionMessageInstruction(
          getTransferSolInstruction({ source: payer, destination: to.address, amount: 1_000_000_000n }),
          draft,
        ),
    );
    const signed = await kit.signTransactionMessageWithSigners(message);
    const send = kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never);
    await send(signed as never, confirmed);
    expect((await rpc.getBalance(to.address, confirmed).send()).value).toBe(1_000_000_000n);
  });

  it('receives account, program and log notifications with exact numbers', async () => {
    const subscriptions = subscriptionsOf();
    const [one, two, three] = await Promise.all([1, 2, 3].map(() => kit.generateKeyPairSigner()));
    const account = await first(
      subscriptions.accountNotifications(one!.address, { ...confirmed, encoding: 'base64' }),
      () => airdrop(one!.address),
    );
    expect(account.value).toMatchObject({ lamports: 1_000_000_000n, data: ['', 'base64'], space: 0n });
    const program = await first(
      subscriptions.programNotifications(kit.address(SystemProgram.programId.toBase58()), {
        ...confirmed,
        encoding: 'base64',
        filters: [{ dataSize: 0n }],
      }),
      () => airdrop(two!.address),
    );
    expect(program.value.account.owner).toBe(SystemProgram.programId.toBase58());
    const logs = await first(subscriptions.logsNotifications({ mentions: [three!.address] }, confirmed), () =>
      airdrop(three!.address),
    );
    expect(logs.value).toMatchObject({ err: null });
  });

  it('receives receivedSignature and then the result', async () => {
    const [rpc, payer] = [rpcOf(), await kit.generateKeyPairSigner()];
    const funded = await first(subscriptionsOf().accountNotifications(payer.address, confirmed), () =>
      airdrop(payer.address),
    );
    expect(funded.value.lamports).toBe(1_000_000_000n);
    const { value: blockhash } = await rpc.getLatestBlockhash(confirmed).send();
    const instruction = getTransferSolInstruction({ source: payer, destination: payer.address, amount: 1n });
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 0 }),
      (draft) => kit.setTransactionMessageFeePayerSigner(payer, draft),
      (draft) => kit.setTransactionMessageLifetimeUsingBlockhash(blockhash, draft),
      (draft) => kit.appendTransactionMessageInstruction(instruction, draft),
    );
    const signed = await kit.signTransactionMessageWithSigners(message);
    const options = { ...confirmed, enableReceivedNotification: true } as const;
    const stop = new AbortController();
    const observed = await subscriptionsOf()
      .signatureNotifications(kit.getSignatureFromTransaction(signed), options)
      .subscribe({ abortSignal: stop.signal });
    const wire = kit.getBase64EncodedWireTransaction(signed);
    await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
    const values: unknown[] = [];
    for await (const { value } of observed) {
      values.push(value);
      if (values.length === 2) stop.abort();
    }
    expect(values).toEqual(['receivedSignature', { err: null }]);
  });

  it('receives slots, roots and whole blocks', async () => {
    const subscriptions = subscriptionsOf();
    const slot = await first(subscriptions.slotNotifications());
    expect(slot.parent).toBe(slot.slot - 1n);
    expect(typeof (await first(subscriptions.rootNotifications()))).toBe('bigint');
    const unstable = kit.createSolanaRpcSubscriptions_UNSTABLE(wsEndpoint);
    const block = await first(
      unstable.blockNotifications('all', {
        ...confirmed,
        encoding: 'base64',
        maxSupportedTransactionVersion: 0,
      }),
    );
    expect(block.value.block?.parentSlot).toBe(block.value.slot - 1n);
    expect((await first(unstable.voteNotifications())).slots.length).toBeGreaterThan(0);
  });
});
