import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as kit from '@solana/kit';
import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Localnet, type LocalnetOptions, startLocalnet } from '../../src/app/localnet/localnet.ts';
import { createLogger } from '../../src/base/log.ts';
import { type FirstUpdate, firstUpdate } from '../clients/first-update.ts';

/** Published clients, which find the WebSocket on the port after JSON-RPC. */
let ledgerDir: string;
let localnet: Localnet;
let url: string;

const options = (rpcPort: number): LocalnetOptions => ({
  ledgerDir,
  host: '127.0.0.1',
  rpcPort,
  inUseWaitMs: 0,
  slotMs: 20,
  log: createLogger('silent', () => {}),
});

beforeAll(async () => {
  ledgerDir = mkdtempSync(join(tmpdir(), 'solway-ledger-'));
  localnet = await startLocalnet(options(0));
  url = `http://127.0.0.1:${localnet.rpcPort}`;
});
afterAll(async () => {
  await localnet?.stop();
  rmSync(ledgerDir, { recursive: true, force: true });
});

describe('@solana/web3.js v1', () => {
  let connection: Connection;
  let payer: Keypair;

  const first = <Notification>(...received: FirstUpdate<Notification>): Promise<Notification> =>
    firstUpdate(connection, ...received);
  const pay = async (to: Keypair, lamports = LAMPORTS_PER_SOL): Promise<string> => {
    const instruction = SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: to.publicKey,
      lamports,
    });
    return connection.sendTransaction(new Transaction().add(instruction), [payer], { skipPreflight: true });
  };

  beforeAll(async () => {
    connection = new Connection(url, { commitment: 'confirmed', disableRetryOnRateLimit: true });
    payer = Keypair.generate();
    const funding = await connection.requestAirdrop(payer.publicKey, 100 * LAMPORTS_PER_SOL);
    // By the WebSocket.
    await connection.confirmTransaction({
      signature: funding,
      ...(await connection.getLatestBlockhash()),
    });
  });
  afterAll(() => {
    // It has no public close.
    (connection as unknown as { _rpcWebSocket: { close(): void } })._rpcWebSocket.close();
  });

  it('receives account notifications', async () => {
    const to = Keypair.generate();
    const received = await first<{ lamports: number }>(
      (listener) => connection.onAccountChange(to.publicKey, listener, { commitment: 'confirmed' }),
      (id) => connection.removeAccountChangeListener(id),
      () => pay(to),
    );
    expect(received.lamports).toBe(LAMPORTS_PER_SOL);
  });

  it('receives filtered program notifications', async () => {
    const to = Keypair.generate();
    const received = await first<{ accountId: { toBase58(): string } }>(
      (listener) =>
        connection.onProgramAccountChange(SystemProgram.programId, listener, {
          commitment: 'processed',
          filters: [{ dataSize: 0 }],
        }),
      (id) => connection.removeProgramAccountChangeListener(id),
      () => pay(to),
    );
    expect([payer.publicKey.toBase58(), to.publicKey.toBase58()]).toContain(received.accountId.toBase58());
  });

  it('receives logs by mentioned address', async () => {
    const to = Keypair.generate();
    let signature = '';
    const received = await first<{ signature: string; logs: string[] }>(
      (listener) => connection.onLogs(to.publicKey, listener, 'processed'),
      (id) => connection.removeOnLogsListener(id),
      async () => {
        signature = await pay(to);
      },
    );
    expect(received.signature).toBe(signature);
    expect(received.logs).toContain('Program 11111111111111111111111111111111 success');
  });

  it('receives a failed transaction', async () => {
    const signature = await pay(Keypair.generate(), 1_000 * LAMPORTS_PER_SOL);
    const received = await new Promise<{ err: unknown }>((resolve) => {
      connection.onSignature(signature, resolve, 'confirmed');
    });
    expect(received.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
  });

  it('receives slots, slot updates and roots', async () => {
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
    expect(root).toBeGreaterThan(0);
  });
});

describe('@solana/kit', () => {
  const rpcOf = () => kit.createSolanaRpc(url);
  const subscriptionsOf = () => kit.createSolanaRpcSubscriptions(`ws://127.0.0.1:${localnet.rpcPort + 1}`);

  /** First notification after `act`. */
  async function first<Notification>(
    pending: { subscribe(options: { abortSignal: AbortSignal }): Promise<AsyncIterable<Notification>> },
    act: () => Promise<unknown> = async () => {},
  ): Promise<Notification> {
    const abort = new AbortController();
    const received = await pending.subscribe({ abortSignal: abort.signal });
    const next = received[Symbol.asyncIterator]().next();
    await act();
    const { value } = await next;
    abort.abort();
    return value as Notification;
  }

  const airdrop = (to: kit.Address) => rpcOf().requestAirdrop(to, kit.lamports(1_000_000_000n)).send();

  it('confirms a transaction by subscriptions', async () => {
    const rpc = rpcOf();
    const rpcSubscriptions = subscriptionsOf();
    const [payer, to] = await Promise.all([kit.generateKeyPairSigner(), kit.generateKeyPairSigner()]);
    await kit.airdropFactory({ rpc, rpcSubscriptions } as never)({
      recipientAddress: payer.address,
      lamports: kit.lamports(5_000_000_000n),
      commitment: 'confirmed',
    });
    const { value: blockhash } = await rpc.getLatestBlockhash().send();
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
    await kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions } as never)(signed as never, {
      commitment: 'confirmed',
    });
    const { value: balance } = await rpc.getBalance(to.address, { commitment: 'confirmed' }).send();
    expect(balance).toBe(1_000_000_000n);
  });

  it('receives exact account, program and log notifications', async () => {
    const subscriptions = subscriptionsOf();
    const [one, two, three] = (await Promise.all([1, 2, 3].map(() => kit.generateKeyPairSigner()))) as [
      kit.KeyPairSigner,
      kit.KeyPairSigner,
      kit.KeyPairSigner,
    ];
    const account = await first(
      subscriptions.accountNotifications(one.address, { commitment: 'confirmed', encoding: 'base64' }),
      () => airdrop(one.address),
    );
    expect(account.value).toMatchObject({ lamports: 1_000_000_000n, data: ['', 'base64'], space: 0n });
    const program = await first(
      subscriptions.programNotifications(kit.address(SystemProgram.programId.toBase58()), {
        commitment: 'processed',
        encoding: 'base64',
        filters: [{ dataSize: 0n }],
      }),
      () => airdrop(two.address),
    );
    expect(program.value.account.owner).toBe(SystemProgram.programId.toBase58());
    const logs = await first(
      subscriptions.logsNotifications({ mentions: [three.address] }, { commitment: 'processed' }),
      () => airdrop(three.address),
    );
    expect(logs.value).toMatchObject({ err: null });
  });

  it('receives slots and roots', async () => {
    const subscriptions = subscriptionsOf();
    const slot = await first(subscriptions.slotNotifications());
    expect(slot.parent).toBe(slot.slot - 1n);
    expect(typeof (await first(subscriptions.rootNotifications()))).toBe('bigint');
  });

  it('receives the unstable block, vote and slot update notifications', async () => {
    const unstable = kit.createSolanaRpcSubscriptions_UNSTABLE(`ws://127.0.0.1:${localnet.rpcPort + 1}`);
    const block = await first(
      unstable.blockNotifications('all', {
        commitment: 'confirmed',
        encoding: 'base64',
        maxSupportedTransactionVersion: 0,
      }),
    );
    expect(block.value.block?.parentSlot).toBe(block.value.slot - 1n);
    expect((await first(unstable.voteNotifications())).votePubkey).toBe(localnet.genesis.voteAccount);
    expect((await first(unstable.slotsUpdatesNotifications())).slot).toBeGreaterThan(0n);
  });
});

describe('embedded ledger ports', () => {
  const listening = async (port: number): Promise<Server> => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return server;
  };
  const other = (rpcPort: number): Promise<Localnet> =>
    startLocalnet({ ...options(rpcPort), ledgerDir: join(ledgerDir, 'other') });

  it('are adjacent', () => {
    expect(localnet.pubsubPort).toBe(localnet.rpcPort + 1);
  });

  it('are rejected when the second is taken, with what to do', async () => {
    const first = await other(0);
    const { rpcPort, pubsubPort } = first;
    await first.stop();
    const holder = await listening(pubsubPort);
    await expect(other(rpcPort)).rejects.toThrow(
      `port ${pubsubPort} of 127.0.0.1 (WebSockets, the port after --rpc-port ${rpcPort}) is in use: ` +
        'stop the other program or choose another port with --rpc-port',
    );
    holder.close();
    await expect(other(65_535)).rejects.toThrow(
      'no port after 65535 for WebSockets: choose a lower one with --rpc-port',
    );
    // A failed attempt releases both ports.
    const second = await other(rpcPort);
    expect(second.pubsubPort).toBe(pubsubPort);
    await second.stop();
  });
});
