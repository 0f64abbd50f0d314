import { InvalidProtobuf } from '../../src/protocol/geyser/protobuf.ts';
import { readRawUpdate } from '../../src/protocol/geyser/read-raw-update.ts';
import { seeds as updates } from './subscribe-update.ts';

export const from = 'nodes';
export const covers = [
  'protocol/geyser/fields.ts',
  'protocol/geyser/read-raw-transaction.ts',
  'protocol/geyser/read-raw-update.ts',
];

/** An update of every kind. */
export const seeds = updates;

/** Whatever is read is read or refused. What is read has keys where it says. */
export function fuzz(input: Uint8Array): boolean {
  try {
    const raw = readRawUpdate(input, 0);
    if (raw?.kind !== 'transaction') return raw !== null;
    for (const offset of raw.keys.offsets) {
      if (offset + 32 > raw.keys.bytes.length) throw new RangeError('a key lies outside its bytes');
    }
    return true;
  } catch (error) {
    if (error instanceof InvalidProtobuf) return false;
    throw error;
  }
}
