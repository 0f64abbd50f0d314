import * as kit from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Feed } from '../../src/streams/feed.ts';
import { TestWebSocketServer } from '../servers/start-websocket-server.ts';
import { type RunningService, startService } from '../service/start-service.ts';

/** The published @solana/kit against the whole service, from API key to embedded ledger. */
let service: RunningService;
let wsEndpoint: string;

beforeAll(async () => {
  service = await startService();
  wsEndpoint = `${service.ready.wsUrl}?api-key=${service.key}`;
});
afterAll(() => service?.stop());

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

  it('confirms an airdrop and a transfer through subscriptions', async () => {
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

/** Notifies while the subscription is opened, as for a transaction that has already landed. */
const atOnce: Feed = {
  open: async (_subscription, listener) => {
    listener.onNotification(Buffer.from('{"context":{"slot":5},"value":{"err":null}}'), true);
    return () => {};
  },
};

// @solana/kit attaches its listener after reading the acknowledgement, and loses notifications that it reads
// together with it.
it('@solana/kit receives a notification that is available when it subscribes', async () => {
  const server = await new TestWebSocketServer({ feed: atOnce }).listen();
  onTestFinished(() => server.stop());
  const subscriptions = kit.createSolanaRpcSubscriptions(server.url(server.createKey()));
  const signature = kit.signature(
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  );
  const end = new AbortController();
  const options = { abortSignal: AbortSignal.any([end.signal, AbortSignal.timeout(5_000)]) };
  const observed = await subscriptions.signatureNotifications(signature).subscribe(options);
  const { value } = await observed[Symbol.asyncIterator]().next();
  end.abort();
  expect(value).toEqual({ context: { slot: 5n }, value: { err: null } });
});
