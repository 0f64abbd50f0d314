import { afterEach, describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/base/json.ts';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import { type Address, addressBytes } from '../../../src/solana/address.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { slot } from '../../../src/solana/units.ts';
import type { LedgerEvent } from '../../../src/streams/ledger-event.ts';
import { LedgerNotifier } from '../../../src/streams/ledger-notifier.ts';
import { GeyserRig, NotificationRecorder, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { account, accountIs, payer, signatureOf, slotIs, transactionIs, transfer } from './geyser-updates.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const other = Keypair.fromSeed(new Uint8Array(32).fill(2)).address;
const first = transfer(1);
const second = transfer(2);

const opened: { stop: () => void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.stop();
});

async function start(limits = {}) {
  const server = await GeyserServer.start('a-secret-token');
  const rig = new GeyserRig([server.url], limits);
  opened.push({ stop: () => rig.feed.close() }, server);
  return { server, rig };
}

const logs = (of: Extract<Subscription, { kind: 'logs' }>['of']): Subscription => ({
  kind: 'logs',
  of,
  commitment: 'processed',
});
const program = (owner: Address, size: bigint | null): Subscription => ({
  kind: 'program',
  program: owner,
  commitment: 'processed',
  encoding: 'base64',
  filters: size === null ? [] : [{ kind: 'dataSize', size }],
});
const waitFor = (commitment: 'processed' | 'confirmed'): Subscription => ({
  kind: 'signature',
  signature: signatureOf(first),
  commitment,
  received: false,
});

describe('GeyserFeed', () => {
  it("sends the node's token and requests only what is subscribed to", async () => {
    const { server, rig } = await start();
    await rig.open(watch(address));
    expect(server.tokens).toEqual(['a-secret-token']);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      accounts: { a0: { account: [address], owner: [], filters: [] } },
      slots: { s: { interslotUpdates: true } },
      transactions: {},
      blocks: {},
      commitment: 0,
    });
    expect(server.requests[0]?.fromSlot).toBeUndefined();
  });

  it('requests the union of all subscriptions on one stream, and less when some end', async () => {
    const { server, rig } = await start();
    const ends = await Promise.all([
      rig.open(watch(address)),
      rig.open(watch(other)),
      rig.open(watch(other, 'confirmed')),
      rig.open(program(programs.token, 165n)),
      rig.open(logs('all')),
      rig.open(logs({ mentions: address })),
      rig.open(waitFor('confirmed')),
    ]);
    const lastRequest = server.requests.at(-1)!;
    expect(Object.values(lastRequest.accounts)).toMatchObject([
      { account: [address, other] },
      { owner: [programs.token], filters: [{ datasize: '165' }] },
    ]);
    expect(Object.values(lastRequest.transactions)).toMatchObject([
      { vote: false },
      { signature: signatureOf(first) },
      { accountInclude: [address] },
    ]);
    const requests = server.requests.length;
    for (const { end } of ends.slice(1)) end();
    await server.until(() => server.requests.length > requests);
    expect(server.requests.at(-1)).toMatchObject({
      accounts: { a0: { account: [address] } },
      transactions: {},
    });
    expect(server.streams).toHaveLength(1);
    ends[0]!.end();
    await server.until(() => server.stream.cancelled);
  });

  it('requests a whole program when one subscription, or too many filters, require it', async () => {
    const { server, rig } = await start({ programFiltersMax: 2 });
    const sizes = [await rig.open(program(programs.token, 1n)), await rig.open(program(programs.token, 2n))];
    expect(Object.keys(server.requests.at(-1)!.accounts)).toHaveLength(2);
    sizes.push(await rig.open(program(programs.token, 3n)));
    expect(Object.values(server.requests.at(-1)!.accounts)).toMatchObject([
      { owner: [programs.token], filters: [] },
    ]);
    sizes[0]!.end();
    await rig.open(program(programs.token, null));
    expect(Object.values(server.requests.at(-1)!.accounts)).toMatchObject([{ filters: [] }]);
  });

  it('emits processed accounts with each write and confirmed ones once, like PubSub', async () => {
    const { server, rig } = await start();
    const processed = await rig.open(watch(address));
    const confirmed = await rig.open(watch(address, 'confirmed'));
    server.send(slotIs(100, 'created'));
    server.send(accountIs(100, address, account(1), 1, signatureOf(first)));
    server.send(accountIs(100, address, account(2), 2, signatureOf(second)));
    await processed.count(2);
    expect(confirmed.results).toEqual([]);
    server.send(slotIs(100, 'processed'));
    server.send(slotIs(100, 'confirmed'));
    await confirmed.count(1);

    const notifier = new LedgerNotifier({ intraSlot: true });
    const expected = [new NotificationRecorder(), new NotificationRecorder()] as const;
    notifier.add(watch(address), expected[0].listener);
    notifier.add(watch(address, 'confirmed'), expected[1].listener);
    const at = slot(100);
    const events: LedgerEvent[] = [
      { kind: 'created', slot: at, parent: slot(99), root: slot(90), at: 0n },
      {
        kind: 'account',
        slot: at,
        address,
        account: account(1),
        signature: signatureOf(first),
        writeVersion: 1n,
      },
      {
        kind: 'account',
        slot: at,
        address,
        account: account(2),
        signature: signatureOf(second),
        writeVersion: 2n,
      },
      { kind: 'processed', slot: at },
      { kind: 'confirmed', slot: at, at: 0n },
    ];
    for (const event of events) notifier.emit(event);
    expect(processed.results).toEqual(expected[0].results);
    expect(confirmed.results).toEqual(expected[1].results);
    expect(confirmed.results).toMatchObject([{ context: { slot: 100 }, value: { lamports: 2 } }]);
  });

  it('emits a drained account, and nothing of the startup snapshot', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
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

  it('drops an older write of an account after a newer one', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    server.send(accountIs(100, address, account(2), 8, signatureOf(second)));
    server.send(accountIs(100, address, account(1), 7, signatureOf(first)));
    server.send(accountIs(100, address, account(3), 9));
    await recorder.count(2);
    expect(recorder.results.map(({ value }) => value.lamports)).toEqual([2, 3]);
  });

  it('emits slots with their root, and every root including skipped ones', async () => {
    const { server, rig } = await start();
    const slots = await rig.open({ kind: 'slot' });
    const roots = await rig.open({ kind: 'root' });
    server.send(slotIs(100, 'created', 98));
    server.send(slotIs(100, 'processed', 98));
    server.send(slotIs(100, 'finalized', 98));
    server.send(slotIs(101, 'processed'));
    server.send(slotIs(103, 'created', 101));
    server.send(slotIs(103, 'processed', 101));
    server.send(slotIs(103, 'finalized', 101));
    await roots.count(3);
    expect(slots.results).toEqual([
      { slot: 100, parent: 98, root: 90 },
      { slot: 101, parent: 100, root: 100 },
      { slot: 103, parent: 101, root: 100 },
    ]);
    expect(roots.results).toEqual([100, 101, 103]);
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
      server.send(slotIs(at, 'created'));
      server.send(accountIs(at, address, account(at), at, signatureOf(first)));
      server.send(slotIs(at, 'processed'));
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
    server.send(transactionIs(100, first, 3));
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

  it('emits the result of a transaction once and stops requesting it', async () => {
    const { server, rig } = await start();
    await rig.open(watch(address));
    const recorder = await rig.open(waitFor('confirmed'));
    server.send(slotIs(100, 'created'));
    server.send(transactionIs(100, first));
    server.send(slotIs(100, 'processed'));
    server.send(slotIs(100, 'confirmed'));
    await recorder.count(1);
    expect(recorder.results).toEqual([{ context: { slot: 100 }, value: { err: null } }]);
    expect(recorder.isDone).toBe(true);
    await server.until(() => Object.keys(server.requests.at(-1)!.transactions).length === 0);
  });

  it('emits the result of an earlier transaction once it reaches the commitment', async () => {
    const { server, rig } = await start();
    let confirmationStatus = 'processed';
    rig.answers.getSignatureStatuses = () =>
      JSON.stringify({
        context: { slot: 120 },
        value: [{ slot: 99, err: 'AccountInUse', confirmationStatus, confirmations: 0 }],
      });
    const processed = await rig.open(waitFor('processed'));
    await processed.count(1);
    expect(processed.results).toEqual([{ context: { slot: 120 }, value: { err: 'AccountInUse' } }]);
    expect(processed.isDone).toBe(true);

    const confirmed = await rig.open(waitFor('confirmed'));
    confirmationStatus = 'confirmed';
    server.send(slotIs(121, 'confirmed'));
    await confirmed.count(1);
    expect(confirmed.results).toHaveLength(1);
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
    server.send(
      accountIs(100, address, account(1, tokens(1_500_000), programs.token), 1, signatureOf(first)),
    );
    server.send(
      accountIs(100, address, account(1, tokens(2_500_000), programs.token), 2, signatureOf(second)),
    );
    server.send(
      accountIs(101, address, account(1, tokens(3_500_000), programs.token), 3, signatureOf(first)),
    );
    server.send(accountIs(101, other, account(5), 4, signatureOf(first)));
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

  it('answers pings', async () => {
    const { server, rig } = await start();
    await rig.open(watch(address));
    const before = server.pings.length;
    server.send({ ping: {} });
    await server.until(() => server.pings.length > before);
    expect(server.pings.at(-1)).toBe(1);
  });

  it('treats silence as acknowledgement from a server that does not answer pings', async () => {
    const { server, rig } = await start({ ackTimeoutMs: 30 });
    server.answersPings = false;
    const recorder = await rig.open(watch(address));
    server.send(accountIs(100, address, account(1), 1));
    await recorder.count(1);
  });

  it('rejects kinds that Geyser does not feed, and more than servers accept', async () => {
    const { rig } = await start({ filtersMax: 2 });
    await expect(rig.open({ kind: 'vote' })).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await rig.open(logs('all'));
    await expect(rig.open(waitFor('processed'))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  it('rejects only the new subscription when a server rejects a request', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    server.onRequest = (request, stream) => {
      server.answersPings = Object.keys(request.transactions).length === 0;
      if (!server.answersPings) stream.emit('error', { code: 3, details: 'failed to create filter' });
    };
    await expect(rig.open(logs('all'))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await server.until(() => server.requests.length === 3);
    server.send(accountIs(100, address, account(1), 1));
    await recorder.count(1);
    expect(recorder.failure).toBeNull();
  });

  it('fails the new subscription when a server rejects its request after answering the ping', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    server.send(slotIs(100, 'processed'));
    server.send(slotIs(101, 'processed'));
    server.send(accountIs(102, address, account(1), 1));
    await recorder.count(1);
    const newcomer = await rig.open(logs('all'));
    server.fail(3, 'failed to create filter');
    await newcomer.until(() => newcomer.failure !== null);
    await server.until(() => server.requests.length === 3);
    expect(server.requests[2]?.transactions).toEqual({});
    expect(recorder.failure).toBeNull();
  });

  it('leaves no stream when a server rejects everything late', async () => {
    const { server, rig } = await start({ stallMs: 60_000 });
    const recorder = await rig.open(watch(address));
    server.fail(3, 'failed to create filter');
    await recorder.until(() => recorder.failure !== null);
    const again = await rig.open(watch(address));
    again.end();
    await server.until(() => server.stream.cancelled);
    const last = await rig.open(watch(other));
    server.send(accountIs(100, other, account(1), 1));
    await last.count(1);
    expect(server.streams.map(({ cancelled }) => cancelled).slice(1)).toEqual([true, false]);
    expect(server.requests.map(({ accounts }) => Object.keys(accounts).length)).toEqual([1, 1, 1]);
  });

  it('skips a malformed message and emits the rest', async () => {
    const { server, rig } = await start();
    const recorder = await rig.open(watch(address));
    const broken = accountIs(100, address, account(1), 1);
    server.send({
      ...broken,
      account: { ...broken.account!, account: { ...broken.account!.account!, pubkey: new Uint8Array(31) } },
    });
    server.send(accountIs(100, address, account(2), 2));
    await recorder.count(1);
    expect(recorder.results).toMatchObject([{ value: { lamports: 2 } }]);
    expect(rig.log.map((line) => (parseJson(line) as { msg: string }).msg)).toContain(
      'Skipped a malformed gRPC message',
    );
  });
});
