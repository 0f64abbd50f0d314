import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { account, entry, meta, status } from '../../../test/streams/raw-slots.ts';
import type { RawBlockMeta, RawSlot, RawUpdate } from '../../protocol/geyser/raw-update.ts';
import { readRawUpdate } from '../../protocol/geyser/read-raw-update.ts';
import { slot } from '../../solana/units.ts';
import { type RawContent, SlotContent } from './slot-store.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What the heap and the buffers of this process take. */
function memory(): number {
  for (let count = 0; count < 2; count++) collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const COUNT = 20_000;

/** Holds updates as they come from a server: many in one piece, each a view of it. */
function fill(content: SlotContent, tail: Uint8Array): void {
  const inPiece = Math.ceil(16_384 / tail.length);
  for (let count = 0; count < COUNT; count += inPiece) {
    const piece = new Uint8Array(inPiece * tail.length);
    for (let at = 0; at < piece.length; at += tail.length) {
      piece.set(tail, at);
      content.add(readRawUpdate(piece.subarray(at, at + tail.length), 1) as RawContent);
    }
  }
}

describe('what a slot holds', () => {
  it.each([
    ['accounts', account(5, 50, 1)],
    ['entries', entry(5, 0)],
  ] as const)('is counted as what it takes in memory: %s', (_kinds, update: RawUpdate) => {
    const { tail } = update;
    const before = memory();
    const content = new SlotContent(slot(5));
    fill(content, tail);
    content.close(meta(5) as RawBlockMeta);
    content.block(new Uint8Array());
    const taken = memory() - before;
    expect(content.bytes / taken).toBeGreaterThan(0.8);
    expect(content.bytes / taken).toBeLessThan(1.5);
  });

  it('is counted with its statuses and how it ends, and forgotten when another version begins', () => {
    const content = new SlotContent(slot(5));
    content.addStatus(status(5, 'createdBank') as RawSlot);
    const first = content.bytes;
    content.close(meta(5) as RawBlockMeta);
    expect([first > 300, content.bytes > first + 500]).toEqual([true, true]);
    content.restart();
    expect([content.bytes, content.meta, content.statuses]).toEqual([0, null, []]);
  });

  it('has no more statuses than may be, however often one comes', () => {
    const content = new SlotContent(slot(5));
    for (let count = 0; count < 1_000; count++) content.addStatus(status(5, 'dead') as RawSlot);
    expect(content.statuses).toHaveLength(64);
    content.addStatus(status(5, 'processed') as RawSlot);
    expect(content.statuses.at(-1)?.status).toBe('processed');
  });
});
