import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { GeyserServer, type UpdateMessage } from '../feeds/geyser-server.ts';
import {
  account,
  accountIs,
  endOf,
  signatureOf,
  slotIs,
  transactionIs,
  transfer,
} from '../feeds/geyser-updates.ts';
import { FIRST_SLOT, LAST_SLOT, ScriptedChain, writtenAddress } from './scripted-chain.ts';
import { blockOf, SourceRig } from './source-rig.ts';

const TRANSACTIONS = 4;

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
    const write = accountIs(slot, writtenAddress, account(at + 1), version + at, signatureOf(transaction));
    return [transactionIs(slot, transaction, at), write];
  });
  const own = accountIs(slot, writtenAddress, account(1_000), version + TRANSACTIONS);
  const before = slot - 3 >= FIRST_SLOT ? [slotIs(slot - 3, 'confirmed')] : [];
  return [slotIs(slot, 'created'), ...content.flat(), own, ...endOf(slot), ...before];
}

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function start(replays: readonly boolean[]) {
  const chains = await Promise.all(
    replays.map(async (each, at) => {
      const updates = (slot: number) => slotUpdates(slot, at * 10_000 + slot * 10);
      return new ScriptedChain(await GeyserServer.start(), updates, each);
    }),
  );
  const rig = new SourceRig(chains.map(({ server }) => server));
  opened.push(() => rig.source.close(), ...chains.map((chain) => () => chain.server.stop()));
  await Promise.all(chains.map(({ server }) => server.until(() => server.pings.length > 0)));
  return { rig, chains };
}

/** Runs the servers to the end in random steps, and kills one in turn, or both. */
async function runWithDeaths(chains: readonly ScriptedChain[], seed: number): Promise<void> {
  const random = randoms(seed);
  for (let step = 1; chains.some(({ position, length }) => position < length); step++) {
    for (const chain of chains)
      chain.advance(chain.position + Math.floor((random.next().value as number) * 12));
    for (let turn = 0; turn < 8; turn++) await nextTurn();
    if (step % 9 !== 0) continue;
    const dying = step % 27 === 0 ? chains : [chains[(step / 9) % chains.length]!];
    for (const chain of dying) {
      while (chain.openStreams === 0) await nextTurn();
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
    await rig.untilEmitted(`${LAST_SLOT} processed`);
    judge(rig, true, LAST_SLOT);
    expect(rig.lost).toEqual([]);
  });

  it('lose no transaction without replay when blocks can be read', async () => {
    const { rig, chains } = await start([false, false]);
    for (let slot = FIRST_SLOT; slot <= LAST_SLOT; slot++) rig.blocks.set(slot, blockOf(slot, 1, 2, 3, 4));
    await rig.source.subscribe({ transactions: new Map([['t', {}]]) }, null).ready;
    await runWithDeaths(chains, 5);
    // Slots after the last complete one of a stream are unknown.
    const last = Number(
      rig.emitted
        .filter((line) => line.endsWith(' processed'))
        .at(-1)
        ?.split(' ')[0],
    );
    expect(last).toBeGreaterThan(FIRST_SLOT + 10);
    judge(rig, false, last);
    expect(rig.lost).toEqual([]);
  });
});
