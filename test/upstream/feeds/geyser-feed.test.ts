import { afterEach, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import { addressBytes } from '../../../src/solana/address.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { GeyserRig, watch } from './geyser-rig.ts';
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

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const other = Keypair.fromSeed(new Uint8Array(32).fill(2)).address;
const first = transfer(1);
const second = transfer(2);

const opened: { stop: () => void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.stop();
});

async function start(limits = {}, source = {}) {
  const server = await GeyserServer.start('a-secret-token');
  const rig = new GeyserRig([server.url], { limits, source });
  opened.push({ stop: () => rig.close() }, server);
  await rig.start(server);
  return { server, rig };
}

const logs = (of: Extract<Subscription, { kind: 'logs' }>['of']): Subscription => ({
  kind: 'logs',
  of,
  commitment: 'processed',
});

describe('GeyserFeed', () => {
  it('emits a drained account, and nothing of the startup snapshot', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    server.send(slotIs(100, 'created'));
    const loaded = accountIs(100, address, account(5), 1);
    server.send({ ...loaded, account: { ...loaded.account!, isStartup: true } });
    // A node hands over what else the account still says.
    const drained = account(0, Uint8Array.of(1, 2, 3), programs.token);
    server.send(accountIs(100, address, drained, 2, signatureOf(first)));
    await recorder.count(1);
    expect(recorder.results).toMatchObject([
      { value: { lamports: 0, owner: programs.system, data: ['', 'base64'] } },
    ]);
  });

  it('emits slots with their root, and every root including skipped ones', async () => {
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

  it('fails only subscriptions that wait for missing roots for too long', async () => {
    const { server, rig } = await start({ seenSlotsMax: 3 });
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
    expect(rig.log.join()).toContain('Too many slots wait for their root');
    const again = await rig.open({ kind: 'root' });
    server.send(slotIs(103, 'finalized'));
    await again.count(1);
  });

  it('emits logs and whole transactions', async () => {
    const { server, rig } = await start();
    const mentioned = await rig.open(logs({ mentions: payer.address }));
    const transactions = await rig.open({
      kind: 'transaction',
      dialect: 'helius',
      commitment: 'processed',
      encoding: 'jsonParsed',
      details: 'full',
      rewards: false,
      maxVersion: 0,
      filter: {
        vote: false,
        failed: null,
        signature: null,
        include: [payer.address],
        exclude: [],
        required: [],
        tokenAccounts: 'none',
      },
    });
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
    expect(transactions.results).toMatchObject([{ signature: signatureOf(first), slot: 100 }]);
  });

  it('fetches the mint of a parsed token account once and keeps the order', async () => {
    const { server, rig } = await start({ mintWaitMs: 30_000 });
    const mint = Keypair.fromSeed(new Uint8Array(32).fill(3)).address;
    const mintData = Buffer.alloc(82);
    mintData[44] = 6;
    mintData[45] = 1;
    rig.answers.getAccountInfo = () =>
      JSON.stringify({ context: { slot: 1 }, value: { data: [mintData.toString('base64'), 'base64'] } });
    const recorder = await rig.open({
      kind: 'account',
      address,
      commitment: 'processed',
      encoding: 'jsonParsed',
    });
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
