import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import type { Signature } from '../../../src/solana/signature.ts';
import { LedgerScene } from './ledger-scene.ts';
import { Recorder } from './listener.ts';
import { subscriptionOf } from './stage.ts';

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** Nodes fail in turn, and at last all at once; then the received notifications are compared with the ledger. */
describe('subscriptions while nodes are killed in turn', () => {
  let scene: LedgerScene;
  const watched: Record<string, Recorder> = {};
  let waitedFor: Signature;

  const open = async (name: string, subscription: Subscription): Promise<void> => {
    const recorder = new Recorder();
    await scene.feed.open(subscription, recorder);
    watched[name] = recorder;
  };

  const openAll = async (): Promise<void> => {
    const payer = scene.payer.publicKey.toBase58();
    for (const commitment of ['processed', 'confirmed', 'finalized']) {
      await open(
        `account ${commitment}`,
        subscriptionOf('account', payer, { commitment, encoding: 'base64' }),
      );
      await open(`logs ${commitment}`, subscriptionOf('logs', 'all', { commitment }));
    }
    await open('slot', subscriptionOf('slot'));
    const details = { transactionDetails: 'signatures', commitment: 'confirmed' };
    await open('block', subscriptionOf('block', 'all', details));
    await open('block finalized', subscriptionOf('block', 'all', { ...details, commitment: 'finalized' }));
  };

  /** Two rounds in which each node fails for a while, and one in which both fail. */
  const causeOutages = async (): Promise<void> => {
    for (const index of [0, 1, 0, 1]) {
      await scene.upstreams[index]!.kill();
      await scene.slots(12);
      await scene.upstreams[index]!.revive();
      await scene.slots(6);
    }
    const transaction = scene.sign();
    waitedFor = transaction.signatures[0]!;
    for (const commitment of ['processed', 'confirmed', 'finalized']) {
      const options = { commitment, enableReceivedNotification: true };
      await open(`signature ${commitment}`, subscriptionOf('signature', waitedFor, options));
    }
    await Promise.all(scene.upstreams.map((node) => node.kill()));
    scene.submit(transaction);
    await scene.slots(5);
    await Promise.all(scene.upstreams.map((node) => node.revive()));
    await scene.slots(10);
  };

  let quietAt: number;
  beforeAll(async () => {
    scene = await LedgerScene.open({ slotMs: 50 });
    await openAll();
    scene.traffic();
    await causeOutages();
    scene.calm();
    quietAt = scene.tip;
    const end = scene.send();
    for (const name of ['logs finalized', 'logs processed', 'logs confirmed']) {
      await watched[name]!.until(
        ({ raw }) => raw.some((text) => text.includes(end)),
        `the last transaction in ${name}; ${scene.logged.filter((line) => !line.includes('debug')).slice(-5)}`,
      );
    }
    for (const name of ['slot', 'block', 'block finalized']) {
      await watched[name]!.until(({ results }) => {
        const last = results.at(-1);
        return (last?.slot ?? last?.value?.slot ?? 0) > quietAt + 2;
      }, `the last slots in ${name}`);
    }
  });
  afterAll(() => scene.close());

  it.each(['processed', 'confirmed', 'finalized'])('neither lose nor duplicate logs at %s', (commitment) => {
    const recorder = watched[`logs ${commitment}`]!;
    const signatures = recorder.results.map(({ value }) => value.signature);
    const slots: number[] = recorder.results.map(({ context }) => context.slot);
    expect(slots).toEqual(sorted(slots));
    const expected = scene.signatures(slots[0]!, slots.at(-1)!);
    expect(expected.length).toBeGreaterThan(30);
    expect(signatures).toEqual(expected);
  });

  it.each(['processed', 'confirmed', 'finalized'])(
    "end with the account's current state at %s, without older states in between",
    async (commitment) => {
      const recorder = watched[`account ${commitment}`]!;
      const balance = String(scene.lab.balance(scene.payer.publicKey, 'processed'));
      await recorder.until(
        ({ raw }) => raw.at(-1)?.includes(`"lamports":${balance},`) ?? false,
        'the last state',
      );
      const slots: number[] = recorder.results.map(({ context }) => context.slot);
      expect(slots).toEqual(sorted([...new Set(slots)]));
    },
  );

  it('neither lose nor duplicate slots', () => {
    const slots = watched.slot!.results.map(({ slot }) => slot as number);
    const made = scene.blocks(slots[0]!, slots.at(-1)!).map(({ slot }) => Number(slot));
    expect(slots).toEqual([...made, ...slots.filter((slot) => slot > (made.at(-1) ?? 0))]);
    for (const { slot, parent, root } of watched.slot!.results) {
      expect(parent).toBe(slot - 1);
      expect(root).toBeLessThan(slot);
    }
  });

  it.each(['block', 'block finalized'])('neither lose nor duplicate %s', (name) => {
    const slots = watched[name]!.results.map(({ value }) => value);
    const expected = scene.blocks(slots[0].slot, slots.at(-1).slot);
    expect(slots.map(({ slot }) => slot)).toEqual(expected.map(({ slot }) => Number(slot)));
    expect(slots.map(({ block }) => block.signatures)).toEqual(
      expected.map(({ transactions }) => transactions.map(({ transaction }) => transaction.signatures[0])),
    );
  });

  it.each(['processed', 'confirmed', 'finalized'])(
    'emit the result of a transaction at %s once',
    async (commitment) => {
      const recorder = watched[`signature ${commitment}`]!;
      await recorder.until(({ isDone }) => isDone, 'the outcome');
      const err = scene.lab.node.history.locate(waitedFor)?.err;
      expect(recorder.results.map(({ value }) => value)).toEqual(['receivedSignature', { err }]);
    },
  );

  it('do not fail', () => {
    expect(Object.values(watched).flatMap(({ failures }) => failures)).toEqual([]);
  });
});
