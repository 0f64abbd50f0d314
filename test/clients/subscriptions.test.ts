import * as kit from '@solana/kit';
import { Connection, Keypair, LAMPORTS_PER_SOL, type PublicKey, SystemProgram } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
