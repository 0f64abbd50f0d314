import { afterEach, describe, expect, it } from 'vitest';
import type { Subscription, SubscriptionOf } from '../../../src/protocol/subscriptions.ts';
import { addressBytes } from '../../../src/solana/address.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { anyTransaction } from '../../streams/notifier-stage.ts';
import { blockOf } from '../geyser/source-rig.ts';
import { GeyserRig, logs, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import {
  account,
  accountIs,
  endOf,
  payer,
  signatureOf,
  slotIs,
  transactionIs,
  transfer,
  wholeSlot,
} from './geyser-updates.ts';
import { until } from './stage.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const other = Keypair.fromSeed(new Uint8Array(32).fill(2)).address;
const [first, second, third, fourth] = [transfer(1), transfer(2), transfer(3), transfer(4)];
const UNAVAILABLE = 14;
const OUT_OF_RANGE = 11;

const transactions: SubscriptionOf<'transaction'> = {
  ...{ kind: 'transaction', dialect: 'helius', commitment: 'processed', encoding: 'base64' },
  ...{ details: 'signatures', rewards: false, maxVersion: 0 },
  filter: { ...anyTransaction, include: [payer.address] },
};
const slots: Subscription = { kind: 'slot' };

const opened: { stop: () => void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.stop();
});

async function start(options: ConstructorParameters<typeof GeyserRig>[1] = {}) {
  const server = await GeyserServer.start('a-secret-token');
  const rig = new GeyserRig([server.url], options);
  opened.push({ stop: () => rig.close() }, server);
  await rig.start(server);
  return { server, rig };
}

describe('GeyserFeed', () => {
  it('emits a drained account as empty, and nothing from the startup snapshot', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    server.send(slotIs(100, 'created'));
    const loaded = accountIs(100, address, account(5), 1);
    server.send({ ...loaded, account: { ...loaded.account!, isStartup: true } });
    // A node sends the old data and owner of a drained account.
    const drained = account(0, Uint8Array.of(1, 2, 3), programs.token);
    server.send(accountIs(100, address, drained, 2, signatureOf(first)));
    await recorder.count(1);
    expect(recorder.results).toMatchObject([
      { value: { lamports: 0, owner: programs.system, data: ['', 'base64'] } },
    ]);
  });

  it('emits slots with the current root, and roots that were not reported, too', async () => {
    const { server, rig } = await start();
    const slots = await rig.open({ kind: 'slot' });
    const roots = await rig.open({ kind: 'root' });
    server.send(slotIs(95, 'finalized'), slotIs(100, 'created', 99), ...endOf(100));
    server.send(slotIs(100, 'confirmed'), ...wholeSlot(101), slotIs(100, 'finalized'));
    server.send(slotIs(103, 'created', 101), ...endOf(103, 101), slotIs(103, 'finalized', 101));
    await roots.count(5);
    expect(slots.results).toEqual([
      { slot: 100, parent: 99, root: 95 },
      { slot: 101, parent: 100, root: 95 },
      { slot: 103, parent: 101, root: 100 },
    ]);
    expect(roots.results).toEqual([95, 99, 100, 101, 103]);
  });

  it('fails only the subscriptions that wait too long for missing roots', async () => {
    const { server, rig } = await start({ limits: { seenSlotsMax: 3 } });
    const roots = await rig.open({ kind: 'root' });
    const [finalized, unwritten, confirmed] = [
      await rig.open(watch(address, 'finalized')),
      await rig.open(watch(other, 'confirmed')),
      await rig.open(watch(address, 'confirmed')),
    ];
    for (let at = 100; at < 104; at++) {
      server.slot(at, accountIs(at, address, account(at), at, signatureOf(first)));
      server.send(slotIs(at, 'confirmed'));
    }
    await confirmed.count(4);
    expect([roots.failure, finalized.failure]).toEqual(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);
    expect([unwritten.failure, confirmed.failure]).toEqual([null, null]);
    expect(confirmed.results.map(({ value }) => value.lamports)).toEqual([100, 101, 102, 103]);
    expect(rig.log.join()).toContain('Too many unrooted slots');
    const again = await rig.open({ kind: 'root' });
    server.send(slotIs(103, 'finalized'));
    await again.count(1);
  });

  it('emits logs and whole transactions', async () => {
    const { server, rig } = await start();
    const mentioned = await rig.open(logs({ mentions: payer.address }));
    const whole = await rig.open({ ...transactions, encoding: 'jsonParsed', details: 'full' });
    server.send(slotIs(100, 'created'), transactionIs(100, first, 3));
    await mentioned.count(1);
    expect(mentioned.results).toEqual([
      {
        context: { slot: 100 },
        value: {
          signature: signatureOf(first),
          err: null,
          logs: ['Program 11111111111111111111111111111111 success'],
        },
      },
    ]);
    expect(whole.results).toMatchObject([{ signature: signatureOf(first), slot: 100 }]);
  });

  it('fetches the mint of a parsed token account once and preserves the order', async () => {
    const { server, rig } = await start({ limits: { mintWaitMs: 30_000 } });
    const mint = Keypair.fromSeed(new Uint8Array(32).fill(3)).address;
    const mintData = Buffer.alloc(82);
    mintData[44] = 6;
    mintData[45] = 1;
    rig.answers.getAccountInfo = () =>
      JSON.stringify({ context: { slot: 1 }, value: { data: [mintData.toString('base64'), 'base64'] } });
    const recorder = await rig.open({ ...watch(address), encoding: 'jsonParsed' });
    const plain = await rig.open(watch(other));
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    rig.hold(promise);
    const tokens = (amount: number): Uint8Array => {
      const data = Buffer.alloc(165);
      data.set(addressBytes(mint), 0);
      data.writeUInt32LE(amount, 64);
      data[108] = 1;
      return data;
    };
    const write = (slot: number, amount: number, by: typeof first) =>
      accountIs(slot, address, account(1, tokens(amount), programs.token), amount, signatureOf(by));
    server.slot(100, write(100, 1_500_000, first), write(100, 2_500_000, second));
    server.slot(101, write(101, 3_500_000, first), accountIs(101, other, account(5), 4, signatureOf(first)));
    const pings = server.pings.length;
    server.send({ ping: {} });
    await server.until(() => server.pings.length > pings);
    expect([recorder.results, plain.results]).toEqual([[], []]);
    answer();
    await plain.count(1);
    expect(recorder.results.map(({ value }) => value.data.parsed.info.tokenAmount.uiAmountString)).toEqual([
      '1.5',
      '2.5',
      '3.5',
    ]);
    expect(rig.requested.filter((method) => method === 'getAccountInfo')).toHaveLength(1);
  });

  it('fails the new subscription when a server rejects its request after answering the ping', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    server.slot(100);
    server.slot(101);
    server.slot(102, accountIs(102, address, account(1), 1));
    await recorder.count(1);
    const newcomer = await rig.open(logs('all'));
    server.onRequest = ({ transactions }, stream) => {
      if (Object.keys(transactions).length > 0)
        stream.emit('error', { code: 3, details: 'failed to create filter' });
    };
    server.fail(3, 'failed to create filter');
    await newcomer.until(({ failure }) => failure !== null, 'the failure');
    await server.until(() => Object.keys(server.requests.at(-1)!.transactions).length === 0);
    expect(recorder.failure).toBeNull();
  });
});

it('while no server sends slots, every subscription after the first is rejected at once', async () => {
  const stopped = await GeyserServer.start();
  stopped.stop();
  const rig = new GeyserRig([stopped.url], { source: { openTimeoutMs: 300 } });
  opened.push({ stop: () => rig.close() });
  const unavailable = { code: 'UPSTREAM_UNAVAILABLE' };
  await expect(rig.open(watch(address))).rejects.toMatchObject(unavailable);
  const server = await GeyserServer.start(null, Number(new URL(stopped.url).port));
  opened.push(server);
  await server.until(() => server.pings.length > 0);
  const requestCount = rig.requested.length;
  await expect(rig.open(watch(address))).rejects.toMatchObject(unavailable);
  expect(rig.requested).toHaveLength(requestCount);
  server.slot(100);
  await until(() => rig.log.join().includes('recovered'), 'the recovery');
  expect((await rig.open(watch(address))).failure).toBeNull();
});

/** Ends the stream of a server that does not replay, and waits for the next one. */
async function breakStream(server: GeyserServer): Promise<void> {
  server.onRequest = ({ fromSlot }, stream) => {
    if (fromSlot !== undefined) stream.emit('error', { code: OUT_OF_RANGE, details: 'not available' });
  };
  server.fail(UNAVAILABLE, 'bye');
  await server.until(() => server.streams.length === 3 && server.requests.at(-1)?.fromSlot === undefined);
}

describe('a gap in the Geyser streams', () => {
  it('is filled from blocks before later slots are emitted; account subscriptions fail', async () => {
    const blocks = new Map([
      [101, blockOf(101, 2)],
      [102, blockOf(102, 3)],
    ]);
    const { server, rig } = await start({ blocks });
    const recorder = await rig.open(transactions);
    const info = await rig.open(slots);
    const accounts = await rig.open(watch(address));
    server.slot(100, transactionIs(100, first));
    await info.count(1);
    await breakStream(server);
    server.slot(103, transactionIs(103, fourth));
    await recorder.count(4);
    await info.count(4);
    await accounts.until(({ failure }) => failure !== null, 'the failure');
    const signatures = recorder.results.map(({ signature }) => signature);
    expect(signatures).toEqual([first, second, third, fourth].map(signatureOf));
    expect(info.results.map((each) => each.slot)).toEqual([100, 101, 102, 103]);
    expect(accounts.failure).toBe('UPSTREAM_UNAVAILABLE');
    expect([recorder.failure, info.failure]).toEqual([null, null]);
  });

  it('that cannot be filled fails subscriptions at the last position before it', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(transactions);
    const info = await rig.open(slots);
    server.slot(100);
    await info.count(1);
    await breakStream(server);
    server.slot(105, transactionIs(105, first));
    for (const each of [recorder, info]) await each.until(({ failure }) => failure !== null, 'the failure');
    expect([recorder.failure, info.failure]).toEqual(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);
    expect([recorder.results, info.results.length]).toEqual([[], 1]);
    expect(rig.feed.position()?.slot).toBe(100n);
  });

  it('fails subscriptions when too many updates are buffered while it is filled', async () => {
    const { server, rig } = await start({ limits: { gapBufferMax: 3 } });
    const recorder = await rig.open(transactions);
    server.slot(100);
    await breakStream(server);
    server.slot(105, ...[1, 2, 3].map((number) => transactionIs(105, transfer(number), number)));
    await recorder.until(({ failure }) => failure !== null, 'the failure');
    expect(recorder.results).toEqual([]);
  });
});
