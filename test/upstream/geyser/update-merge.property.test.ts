import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RawUpdate } from '../../../src/protocol/geyser/raw-update.ts';
import { type Slot, slot as slotOf } from '../../../src/solana/units.ts';
import type { StreamReader } from '../../../src/upstream/geyser/stream-reader.ts';
import { UpdateMerge } from '../../../src/upstream/geyser/update-merge.ts';
import { type Item, labels, type ModelSlot, type ModelUpdate, updatesOf } from './chain-model.ts';
import { fullRequest } from './merge-stage.ts';

const MARGIN = 3n;
const RUNS = 300;
/** First item number of dead slot versions; divisible by 6, so that they write the same accounts. */
const DEAD = 102;

const item = fc.record({
  kind: fc.constantFrom<Item['kind']>('transaction', 'written', 'own', 'entry'),
});

/** Entries are numbered on their own, because their numbers are indexes. */
function numbered(items: readonly Pick<Item, 'kind'>[]): Item[] {
  let entries = 0;
  return items.map(({ kind }, at) => ({ kind, number: kind === 'entry' ? entries++ : at }));
}

/** Slots in order, with some skipped. */
const chains = fc
  .array(
    fc.record({
      step: fc.constantFrom(1, 1, 1, 2),
      deadItems: fc.option(fc.array(item, { maxLength: 4 }), { freq: 3 }),
      items: fc.array(item, { maxLength: 8 }),
    }),
    { minLength: 4, maxLength: 14 },
  )
  .map((slots) => {
    let parent = 99;
    return slots.map(({ step, deadItems, items }): ModelSlot => {
      const slot = parent + step;
      const modelSlot = {
        slot,
        parent,
        deadItems: deadItems?.map(({ kind }, at) => ({ kind, number: DEAD + at })) ?? null,
        items: numbered([...items, { kind: 'entry' }]),
      };
      parent = slot;
      return modelSlot;
    });
  });

type Action =
  | Readonly<{ kind: 'tell'; server: 0 | 1; count: number }>
  | Readonly<{ kind: 'die'; server: 0 | 1 }>
  | Readonly<{ kind: 'return'; server: 0 | 1; replays: boolean; isPartial: boolean }>;

const server = fc.constantFrom<0 | 1>(0, 1);
const actions = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('tell' as const),
        server,
        count: fc.integer({ min: 1, max: 30 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), server }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('return' as const),
        server,
        replays: fc.boolean(),
        isPartial: fc.boolean(),
      }),
    },
  ),
  { maxLength: 40 },
);

class ModelServer {
  readonly #updates: readonly ModelUpdate[];
  readonly #merge: UpdateMerge;
  #reader: StreamReader | null = null;
  /** Positions of the server itself (`#live`) and of its stream (`#at`). */
  #live = 0;
  #at = 0;
  /** The slot whose transactions and entries the stream does not send. */
  #partial: Slot | null = null;

  constructor(updates: readonly ModelUpdate[], merge: UpdateMerge, start: number) {
    this.#updates = updates;
    this.#merge = merge;
    this.#live = Math.min(start, updates.length);
  }

  /** @param isPartial - whether the stream lacks the transactions and entries of its first slot. */
  return(replays: boolean, isPartial = false): void {
    if (this.#reader !== null) return;
    const { newest } = this.#merge;
    const from = newest === null || !replays ? null : slotOf(Number(newest + 1n - MARGIN));
    this.#reader = this.#merge.addReader({ from, tip: newest, fillsIn: false, seals: true });
    this.#reader.setRequest(fullRequest);
    this.#at = this.#live;
    // A stream that starts after `dead` could not tell that the next bank of the slot is not its first.
    const before = this.#updates[this.#at - 1];
    if (before?.kind === 'slot' && before.status === 'dead') this.#at--;
    const begins = from === null ? -1 : this.#updates.findIndex(({ slot }) => slot >= from);
    if (begins >= 0 && begins < this.#live) this.#at = begins;
    const started = this.#updates
      .slice(this.#at)
      .find((each) => each.kind === 'slot' && each.status === 'createdBank');
    this.#partial = isPartial ? (started?.slot ?? null) : null;
  }

  die(): void {
    if (this.#reader !== null) this.#merge.removeReader(this.#reader);
    this.#reader = null;
  }

  send(count: number): void {
    for (let sent = 0; sent < count; sent++) {
      if (this.#reader === null) this.#live = Math.min(this.#live + 1, this.#updates.length);
      else {
        const update = this.#updates[this.#at];
        if (update === undefined) return;
        this.#at++;
        this.#live = Math.max(this.#live, this.#at);
        const isCounted = update.kind === 'transaction' || update.kind === 'entry';
        if (!isCounted || update.slot !== this.#partial) this.#reader.handleUpdate(update);
      }
    }
  }

  finish(): void {
    this.send(this.#updates.length * 2);
  }
}

/** Sends all missing slots, like a replay. */
function fill(merge: UpdateMerge, updates: readonly ModelUpdate[]): void {
  for (
    let missing = merge.missingRange(performance.now());
    missing !== null;
    missing = merge.missingRange(performance.now())
  ) {
    const { from, to } = missing;
    const reader = merge.addReader({ from, tip: to, fillsIn: false, seals: true });
    reader.setRequest(fullRequest);
    for (const update of updates) if (update.slot >= from && update.slot <= to) reader.handleUpdate(update);
    merge.removeReader(reader);
  }
}

function labelOf(update: RawUpdate): string {
  if (update.kind === 'slot') return `${update.slot} ${update.status}`;
  return update.kind === 'blockMeta' ? `${update.slot} blockMeta` : (labels.get(update) ?? '?');
}

function run(
  chain: readonly ModelSlot[],
  starts: readonly [number, number],
  script: readonly Action[],
): string[] {
  const sent: string[] = [];
  const lost: Slot[] = [];
  const merge = new UpdateMerge({
    limits: { slotsMax: 512, slotUpdatesMax: 1_000, stallMs: 1_000_000 },
    listener: {
      onUpdate: (update) => sent.push(labelOf(update)),
      onLost: (from) => lost.push(from),
      onReset: () => {},
    },
    onStart: () => {},
    onWaiting: () => {},
  });
  const updates = [updatesOf(chain, 1, false), updatesOf(chain, 5_000, true)] as const;
  const servers = [
    new ModelServer(updates[0], merge, starts[0]),
    new ModelServer(updates[1], merge, starts[1]),
  ] as const;
  for (const each of servers) each.return(false);
  for (const action of script) {
    if (action.kind === 'tell') servers[action.server].send(action.count);
    else if (action.kind === 'die') servers[action.server].die();
    else servers[action.server].return(action.replays, action.isPartial);
    fill(merge, updates[0]);
  }
  for (const each of servers) {
    each.die();
    each.return(true);
    each.finish();
    fill(merge, updates[0]);
  }
  expect(lost).toEqual([]);
  return sent;
}

/** Checks dead versions: nothing is emitted twice, and versions are not mixed. */
function checkDead(slot: number, sent: readonly string[]): void {
  const lines = sent.join().split(`${slot} dead`);
  expect(lines.pop()).toBe('');
  for (const line of lines) {
    const labels = line.split(',').filter((label) => label !== '');
    const [bank, ...contents] = labels;
    expect(bank).toBe(`${slot} createdBank`);
    expect(new Set(contents).size).toBe(contents.length);
    expect(new Set(contents.map((label) => Number(label.split(' ')[2]) >= DEAD)).size).toBeLessThan(2);
  }
}

/** Checks the updates emitted for a slot, and their order. */
function check({ slot, parent, items }: ModelSlot, sent: readonly string[], first: number): void {
  const all = sent.filter((label) => label.startsWith(`${slot} `));
  const death = all.lastIndexOf(`${slot} dead`);
  checkDead(slot, all.slice(0, death + 1));
  const mine = all.slice(death + 1);
  const processed = mine.indexOf(`${slot} processed`);
  const contents = items.map(({ kind, number }) => `${slot} ${kind} ${number}`);
  expect(mine[0]).toBe(`${slot} createdBank`);
  expect(mine.slice(1, processed - 1).sort()).toEqual(contents.sort());
  expect(mine[processed - 1]).toBe(`${slot} blockMeta`);
  const after = mine.slice(processed + 1);
  expect([[], [`${slot} confirmed`], [`${slot} confirmed`, `${slot} finalized`]]).toContainEqual(after);
  if (parent >= first) {
    expect(sent.indexOf(`${parent} processed`)).toBeLessThan(sent.indexOf(`${slot} processed`));
  }
  for (const kind of ['written', 'own'] as const) {
    const writes = mine.filter((label) => label.startsWith(`${slot} ${kind} `));
    for (const account of [0, 1, 2]) {
      const modulo = kind === 'written' ? 3 : 2;
      const numbers = writes
        .map((label) => Number(label.split(' ')[2]))
        .filter((one) => one % modulo === account);
      expect(numbers).toEqual([...numbers].sort((one, other) => one - other));
    }
  }
}

describe('updates of two merged servers, in any interleaving, with crashes', () => {
  it('are emitted once, with slots complete before processed and none missing', { timeout: 30_000 }, () => {
    fc.assert(
      fc.property(
        chains,
        fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 40 })),
        actions,
        (chain, starts, script) => {
          const sent = run(chain, starts, script);
          const first = Number(sent.find((label) => label.endsWith(' createdBank'))?.split(' ')[0]);
          for (const each of chain) if (each.slot >= first) check(each, sent, first);
          expect(sent.filter((label) => Number(label.split(' ')[0]) < first)).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
