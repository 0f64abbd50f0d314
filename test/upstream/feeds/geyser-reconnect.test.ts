import { afterEach, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { blockOf } from '../geyser/source-rig.ts';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { payer, signatureOf, transactionIs, transfer } from './geyser-updates.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const [first, second, third, fourth] = [transfer(1), transfer(2), transfer(3), transfer(4)];
const UNAVAILABLE = 14;
const OUT_OF_RANGE = 11;

const transactions: Subscription = {
  ...{ kind: 'transaction', dialect: 'helius', commitment: 'processed', encoding: 'base64' },
  ...{ details: 'signatures', rewards: false, maxVersion: 0 },
  filter: {
    ...{ vote: null, failed: null, signature: null, include: [payer.address], exclude: [], required: [] },
    tokenAccounts: 'none',
  },
};
const slots: Subscription = { kind: 'slot' };

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function start(options: ConstructorParameters<typeof GeyserRig>[1] = {}) {
  const server = await GeyserServer.start('a-secret-token');
  const rig = new GeyserRig([server.url], options);
  opened.push(
    () => rig.close(),
    () => server.stop(),
  );
  await rig.start(server);
  return { server, rig };
}

/** Ends the stream of a server that does not replay, and waits for the next one. */
async function breakStream(server: GeyserServer): Promise<void> {
  server.onRequest = ({ fromSlot }, stream) => {
    if (fromSlot !== undefined) stream.emit('error', { code: OUT_OF_RANGE, details: 'not available' });
  };
  server.fail(UNAVAILABLE, 'bye');
  await server.until(() => server.streams.length === 3 && server.requests.at(-1)?.fromSlot === undefined);
}

describe('a gap in the Geyser streams', () => {
  it('is read from blocks before later slots are emitted; account subscriptions fail', async () => {
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
    const signatures = recorder.results.map(({ signature }) => signature);
    expect(signatures).toEqual([first, second, third, fourth].map(signatureOf));
    expect(info.results.map((each) => each.slot)).toEqual([100, 101, 102, 103]);
    expect(accounts.failure).toBe('UPSTREAM_UNAVAILABLE');
    expect([recorder.failure, info.failure]).toEqual([null, null]);
  });

  it('fails subscriptions when it cannot be repaired, at the last position before it', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(transactions);
    const info = await rig.open(slots);
    server.slot(100);
    await info.count(1);
    await breakStream(server);
    server.slot(105, transactionIs(105, first));
    await recorder.until(({ failure }) => failure !== null, 'the failure');
    expect([recorder.failure, info.failure]).toEqual(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);
    expect([recorder.results, info.results.length]).toEqual([[], 1]);
    expect(rig.feed.position()?.slot).toBe(100n);
  });

  it('fails subscriptions when too many updates wait for its repair', async () => {
    const { server, rig } = await start({ limits: { heldMax: 3 } });
    const recorder = await rig.open(transactions);
    server.slot(100);
    await breakStream(server);
    server.slot(105, ...[1, 2, 3].map((number) => transactionIs(105, transfer(number), number)));
    await recorder.until(({ failure }) => failure !== null, 'the failure');
    expect(recorder.results).toEqual([]);
  });
});
