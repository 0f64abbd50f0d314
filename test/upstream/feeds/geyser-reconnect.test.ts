import { afterEach, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import type { Block } from '../../../src/solana/block.ts';
import { blockhashFromBytes } from '../../../src/solana/blockhash.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import type { TransactionMeta } from '../../../src/solana/transaction/transaction-meta.ts';
import { lamports, type Slot, slot } from '../../../src/solana/units.ts';
import type { GeyserLimits } from '../../../src/upstream/feeds/geyser/geyser-connection.ts';
import { type FillBlocks, GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { account, accountIs, payer, signatureOf, slotIs, transactionIs, transfer } from './geyser-updates.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const [first, second, third] = [transfer(1), transfer(2), transfer(3)];
const UNAVAILABLE = 14;
const OUT_OF_RANGE = 11;

const logs: Subscription = { kind: 'logs', of: { mentions: payer.address }, commitment: 'processed' };
const slots: Subscription = { kind: 'slot' };

const opened: { stop: () => void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.stop();
});

async function start(
  servers = 1,
  limits: Partial<GeyserLimits> = {},
  more: { fill?: FillBlocks } & { token?: string } = {},
) {
  const all = await Promise.all(Array.from({ length: servers }, () => GeyserServer.start('a-secret-token')));
  const rig = new GeyserRig(
    all.map(({ url }) => url),
    limits,
    more,
  );
  opened.push({ stop: () => rig.feed.close() }, ...all);
  return { server: all[0]!, other: all[1]!, rig };
}

const meta: TransactionMeta = {
  err: null,
  fee: lamports(5000),
  preBalances: [],
  postBalances: [],
  innerInstructions: [],
  logMessages: ['Program log: of a block'],
  preTokenBalances: [],
  postTokenBalances: [],
  rewards: [],
  loadedAddresses: { writable: [], readonly: [] },
  returnData: null,
  computeUnitsConsumed: null,
  costUnits: null,
};

const hash = blockhashFromBytes(new Uint8Array(32));

const blockOf = (number: number, transaction = second): Block => ({
  slot: slot(number),
  parentSlot: slot(number - 1),
  blockhash: hash,
  previousBlockhash: hash,
  blockHeight: null,
  blockTime: 1_700_000_000n,
  transactions: [{ transaction, meta }],
  rewards: [],
});

/** Tells a slot from its beginning to its end. */
function whole(
  server: GeyserServer,
  number: number,
  ...updates: Parameters<GeyserServer['send']>[0][]
): void {
  server.send(slotIs(number, 'created'));
  for (const update of updates) server.send(update);
  server.send(slotIs(number, 'processed'));
}

const signaturesOf = (results: readonly { value: { signature: string } }[]): string[] =>
  results.map(({ value }) => value.signature);

describe('a broken Geyser stream', () => {
  it('resumes after the newest root without duplicates', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(logs);
    const accounts = await rig.open(watch(address));
    const roots = await rig.open(slots);
    whole(server, 100, transactionIs(100, first));
    server.send(slotIs(100, 'confirmed'));
    server.send(slotIs(100, 'finalized'));
    whole(
      server,
      101,
      transactionIs(101, second),
      accountIs(101, address, account(1), 1, signatureOf(second)),
    );
    await accounts.count(1);
    server.fail(UNAVAILABLE, 'server is shutting down');
    await server.until(() => server.streams.length === 2 && server.requests.length > 1);
    expect(server.requests.at(-1)).toMatchObject({
      fromSlot: '101',
      accounts: { a0: { account: [address] } },
    });

    whole(
      server,
      101,
      transactionIs(101, second),
      accountIs(101, address, account(1), 7, signatureOf(second)),
    );
    server.send(transactionIs(101, third, 1));
    whole(server, 102, accountIs(102, address, account(2), 8, signatureOf(third)));
    await accounts.count(2);
    expect(signaturesOf(recorder.results)).toEqual([first, second, third].map(signatureOf));
    expect(accounts.results.map(({ value }) => value.lamports)).toEqual([1, 2]);
    expect(roots.results.map((info) => info.slot)).toEqual([100, 101, 102]);
  });

  it('fails over to another server without duplicates', async () => {
    const { server, other, rig } = await start(2, { failuresMax: 1 });
    const accounts = await rig.open(watch(address));
    whole(server, 100, accountIs(100, address, account(1), 900, signatureOf(first)));
    await accounts.count(1);
    server.stop();
    await other.until(() => other.requests.length > 0);
    expect(other.tokens).toEqual(['a-secret-token']);
    expect(other.requests[0]?.fromSlot).toBe('100');
    whole(
      other,
      100,
      accountIs(100, address, account(1), 3, signatureOf(first)),
      accountIs(100, address, account(2), 4, signatureOf(second)),
    );
    await accounts.count(2);
    expect(accounts.results.map(({ value }) => value.lamports)).toEqual([1, 2]);
  });

  it.each([
    ['is not remembered so far', OUT_OF_RANGE, 'broadcast from 100 is not available, last available: 150'],
    ['is not replayed at all', 13, 'from_slot is not supported'],
  ])('reads blocks for what %s', async (_name, code, details) => {
    const gaps: [Slot, Slot][] = [];
    const { server, rig } = await start(
      1,
      {},
      {
        fill: async (from, to, onBlock) => {
          gaps.push([from, to]);
          for (let at = Number(from); at <= Number(to); at++)
            onBlock(blockOf(at, at === 101 ? second : third));
        },
      },
    );
    const recorder = await rig.open(logs);
    const info = await rig.open(slots);
    const accounts = await rig.open(watch(address));
    whole(server, 100, transactionIs(100, first));
    await recorder.count(1);
    server.onRequest = (request, stream) => {
      if (request.fromSlot !== undefined) stream.emit('error', { code, details });
    };
    server.fail(UNAVAILABLE, 'bye');
    await server.until(() => server.streams.length === 3 && server.requests.at(-1)?.fromSlot === undefined);
    server.send(transactionIs(103, transfer(4)));
    server.send(slotIs(103, 'created'));
    await recorder.count(4);
    expect(gaps).toEqual([[101n, 102n]]);
    expect(signaturesOf(recorder.results)).toEqual([first, second, third, transfer(4)].map(signatureOf));
    expect(info.results.map((each) => each.slot)).toEqual([100, 101, 102, 103]);
    expect(accounts.failure).toBe('UPSTREAM_UNAVAILABLE');
    expect(recorder.failure).toBeNull();
  });

  it('fails what it cannot fill', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(logs);
    const info = await rig.open(slots);
    whole(server, 100);
    await info.count(1);
    server.fail(UNAVAILABLE, 'bye');
    await server.until(() => server.requests.at(-1)?.fromSlot !== undefined);
    server.send(slotIs(105, 'created'));
    await recorder.until(() => recorder.failure !== null);
    expect([recorder.failure, info.failure]).toEqual(['UPSTREAM_UNAVAILABLE', 'UPSTREAM_UNAVAILABLE']);
    expect(info.results).toHaveLength(1);
  });

  it('is closed when it stalls', async () => {
    const { server, rig } = await start(1, { stallMs: 100 });
    await rig.open(watch(address));
    await server.until(() => server.streams.length >= 2);
    expect(rig.log.join()).toContain('no new slot for longer than stall_ms');
  });

  it('fails its subscriptions when all servers were down for too long', async () => {
    const { server, rig } = await start(1, { downMaxMs: 50 });
    const recorder = await rig.open(watch(address));
    server.stop();
    await recorder.until(() => recorder.failure !== null);
    expect(recorder.failure).toBe('UPSTREAM_UNAVAILABLE');
  });
});

describe('a Geyser server that rejects the token', () => {
  it('is logged with its response but without the token', async () => {
    const { rig } = await start(1, { openTimeoutMs: 200 }, { token: 'another-secret' });
    await expect(rig.open(watch(address))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    const log = rig.log.join();
    expect(log).toContain('UNAUTHENTICATED');
    expect(log).toContain('node-0');
    expect(log).not.toContain('another-secret');
  });
});

describe('a subscription with a slow fetch', () => {
  it('pauses the server without loss', async () => {
    const { server, rig } = await start(1, { heldMax: 5 });
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    rig.answers.getAccountInfo = () => JSON.stringify({ context: { slot: 1 }, value: null });
    const recorder = await rig.open({
      kind: 'account',
      address,
      commitment: 'processed',
      encoding: 'jsonParsed',
    });
    rig.hold(promise);
    const token = Buffer.alloc(165);
    token[108] = 1;
    for (let version = 1; version <= 50; version++) {
      server.send(
        accountIs(
          100,
          address,
          account(version, token, programs.token),
          version,
          signatureOf(transfer(version)),
        ),
      );
    }
    await rig.until(() => rig.requested.includes('getAccountInfo'));
    expect(recorder.results).toEqual([]);
    answer();
    await recorder.count(50);
    expect(recorder.results.map(({ value }) => value.lamports)).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 1),
    );
  });
});
