import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { GeyserServer, type GeyserStream, type UpdateMessage } from '../feeds/geyser-server.ts';
import {
  account,
  accountIs,
  endOf,
  signatureOf,
  slotIs,
  transactionIs,
  transfer,
} from '../feeds/geyser-updates.ts';
import { blockOf, SourceRig, sendOn } from './source-rig.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const [FIRST, LAST] = [100, 140];
const TRANSACTIONS = 4;
const UNAVAILABLE = 14;

/** Reproducible numbers. */
function* randoms(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Transfers, each of which writes an account, and a write of the slot itself. */
function slotUpdates(slot: number, version: number): UpdateMessage[] {
  const content = Array.from({ length: TRANSACTIONS }, (_, at) => {
    const transaction = transfer(at + 1);
    const write = accountIs(slot, address, account(at + 1), version + at, signatureOf(transaction));
    return [transactionIs(slot, transaction, at), write];
  });
  const own = accountIs(slot, address, account(1_000), version + TRANSACTIONS);
  const before = slot - 3 >= FIRST ? [slotIs(slot - 3, 'confirmed')] : [];
  return [slotIs(slot, 'created'), ...content.flat(), own, ...endOf(slot), ...before];
}

/** A server of a chain up to its current slot, which may support replay. */
class ChainServer {
  readonly server: GeyserServer;
  readonly #updates: readonly UpdateMessage[];
  readonly #starts = new Map<number, number>();
  readonly #streams = new Set<GeyserStream>();
  #live = 0;

  constructor(server: GeyserServer, firstVersion: number, replays: boolean) {
    this.server = server;
    const updates: UpdateMessage[] = [];
    for (let slot = FIRST; slot <= LAST; slot++) {
      this.#starts.set(slot, updates.length);
      updates.push(...slotUpdates(slot, firstVersion + slot * 10));
    }
    this.#updates = updates;
    server.onRequest = ({ fromSlot }, stream) => {
      if (fromSlot !== undefined && !replays) {
        stream.emit('error', { code: 13, details: 'from_slot is not supported' });
        return;
      }
      this.#streams.add(stream);
      stream.once('close', () => this.#streams.delete(stream));
      stream.once('cancelled', () => this.#streams.delete(stream));
      if (fromSlot === undefined) return;
      sendOn(stream, this.#updates.slice(this.#starts.get(Number(fromSlot)) ?? 0, this.#live));
    };
  }

  get isDone(): boolean {
    return this.#live === this.#updates.length;
  }

  step(count: number): void {
    const next = this.#updates.slice(this.#live, this.#live + count);
    this.#live += next.length;
    for (const stream of this.#streams) sendOn(stream, next);
  }

  get hasSubscriber(): boolean {
    return this.#streams.size > 0;
  }

  kill(): void {
    for (const stream of this.#streams) {
      this.#streams.delete(stream);
      stream.emit('error', { code: UNAVAILABLE, details: 'server is shutting down' });
    }
  }
}

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function start(replays: readonly boolean[]) {
  const chains = await Promise.all(
    replays.map(async (each, at) => new ChainServer(await GeyserServer.start(), at * 10_000, each)),
  );
  const rig = new SourceRig(chains.map(({ server }) => server));
  opened.push(() => rig.source.close(), ...chains.map((chain) => () => chain.server.stop()));
  await Promise.all(chains.map(({ server }) => server.until(() => server.pings.length > 0)));
  return { rig, chains };
}

/** Runs the servers to the end in random steps, and kills one in turn, or both. */
async function runWithDeaths(chains: readonly ChainServer[], seed: number): Promise<void> {
  const random = randoms(seed);
  for (let step = 1; chains.some(({ isDone }) => !isDone); step++) {
    for (const chain of chains) chain.step(Math.floor((random.next().value as number) * 12));
    for (let turn = 0; turn < 8; turn++) await nextTurn();
    if (step % 9 !== 0) continue;
    const dying = step % 27 === 0 ? chains : [chains[(step / 9) % chains.length]!];
    for (const chain of dying) {
      while (!chain.hasSubscriber) await nextTurn();
    }
    for (const chain of dying) chain.kill();
  }
}

/** Expects each update of every slot once, complete before `processed`, and parents first. */
function judge(rig: SourceRig, accounts: boolean, to: number): void {
  const first = Number(rig.emitted[0]?.split(' ')[0]);
  const processed = rig.emitted
    .filter((line) => line.endsWith(' processed'))
    .map((line) => Number(line.split(' ')[0]));
  expect(processed).toEqual(Array.from({ length: to - first + 1 }, (_, at) => first + at));
  const content = Array.from({ length: TRANSACTIONS }, (_, at) => [
    `transfer ${at + 1}`,
    ...(accounts ? [`account ${at + 1}`] : []),
  ]).flat();
  const expected = [...content, ...(accounts ? ['account 1000'] : [])].sort();
  for (let slot = first; slot <= to; slot++) {
    const lines = rig.of(slot).filter((line) => accounts || !line.startsWith('account'));
    expect(lines[0]).toBe('createdBank');
    const end = lines.indexOf('processed');
    expect(lines.slice(1, end - 1).sort()).toEqual(expected);
    expect(lines[end - 1]).toBe('meta');
    expect([[], ['confirmed']]).toContainEqual(lines.slice(end + 1));
  }
}

describe('Geyser servers that are killed repeatedly', () => {
  it.each([
    ['two that replay', [true, true], 1],
    ['two that replay, in another order', [true, true], 2],
    ['two of which one replays', [true, false], 3],
    ['one that replays', [true], 6],
  ])('lose and duplicate nothing: %s', async (_, replays, seed) => {
    const { rig, chains } = await start(replays);
    const all = { transactions: new Map([['t', {}]]), accounts: new Map([['a', {}]]) };
    await rig.source.subscribe(all, null).ready;
    await runWithDeaths(chains, seed);
    await rig.untilEmitted(`${LAST} processed`);
    judge(rig, true, LAST);
    expect(rig.lost).toEqual([]);
  });

  it('lose no transaction without replay when blocks can be read', async () => {
    const { rig, chains } = await start([false, false]);
    for (let slot = FIRST; slot <= LAST; slot++) rig.blocks.set(slot, blockOf(slot, 1, 2, 3, 4));
    await rig.source.subscribe({ transactions: new Map([['t', {}]]) }, null).ready;
    await runWithDeaths(chains, 5);
    // Slots after the last complete one of a stream are unknown.
    const last = Number(
      rig.emitted
        .filter((line) => line.endsWith(' processed'))
        .at(-1)
        ?.split(' ')[0],
    );
    expect(last).toBeGreaterThan(FIRST + 10);
    judge(rig, false, last);
    expect(rig.lost).toEqual([]);
  });
});
