import { blockTail } from '../../src/protocol/geyser/encode/block.ts';
import { slicedAccountTail } from '../../src/protocol/geyser/encode/raw-account.ts';
import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import type { RawBlock, RawBlockMeta } from '../../src/protocol/geyser/raw-update.ts';
import { type RawMessage, readRawUpdate } from '../../src/protocol/geyser/read-raw-update.ts';
import { TokenOwners } from '../../src/streams/geyser/filters/token-owners.ts';
import { accepted } from './engine/accepted.ts';
import { message as anyMessage } from './engine/generate-protobuf.ts';
import type { Random } from './engine/mutate.ts';
import { seeds as updates } from './subscribe-update.ts';

export const from = 'nodes';
export const covers = [
  'protocol/geyser/encode/block.ts',
  'protocol/geyser/encode/raw-account.ts',
  'streams/geyser/filters/token-owners.ts',
  'protocol/geyser/fields.ts',
  'protocol/geyser/read-raw-transaction.ts',
  'protocol/geyser/read-raw-update.ts',
];

/** An update of every kind. */
export const seeds = updates;

const owners = new TokenOwners();
const slices = [{ offset: 0n, length: 1n }];

function blockOf(meta: RawBlockMeta): RawBlock {
  const { slot, createdAt } = meta;
  const lists = { transactions: [], accounts: [], entries: [] };
  return { kind: 'block', slot, createdAt, meta, ...lists, updatedAccountCount: 0 };
}

/** What streams make of it: they tell it on without reading it through. */
function reportedOn(raw: RawMessage): void {
  if (raw.kind === 'account') slicedAccountTail(raw, slices);
  if (raw.kind === 'blockMeta')
    blockTail(blockOf(raw), { transactions: [], accounts: [], entries: [], slices });
  if (raw.kind !== 'transaction') return;
  for (const offset of raw.keys.offsets)
    if (offset + 32 > raw.keys.bytes.length) throw new RangeError('a key lies outside its bytes');
  for (const which of ['all', 'balanceChanged'] as const) owners.of(raw, which);
}

/** Messages whose fields are of any number and kind. */
export const generate = (random: Random): Uint8Array => anyMessage(random);

/** Whatever is read is read or refused. What is read has keys where it says, and can be told on. */
export const fuzz = (input: Uint8Array): boolean =>
  accepted(() => {
    const raw = readRawUpdate(input, 0);
    if (raw !== null) reportedOn(raw);
  }, InvalidProtobuf);
