import { describe, expect, it } from 'vitest';
import { meta, status } from '../../../test/streams/raw-slots.ts';
import type { RawBlockMeta, RawSlot } from '../../protocol/geyser/raw-update.ts';
import { slot } from '../../solana/units.ts';
import { SlotContent } from './slot-content.ts';

describe('the content of a slot', () => {
  it('counts statuses and block meta, and is cleared on restart', () => {
    const content = new SlotContent(slot(5));
    content.addStatus(status(5, 'createdBank') as RawSlot);
    const first = content.bytes;
    content.setMeta(meta(5) as RawBlockMeta);
    expect([first > 300, content.bytes > first + 500]).toEqual([true, true]);
    content.restart();
    expect([content.bytes, content.meta, content.statuses]).toEqual([0, null, []]);
  });

  it('keeps a bounded number of repeated statuses', () => {
    const content = new SlotContent(slot(5));
    for (let count = 0; count < 1_000; count++) content.addStatus(status(5, 'dead') as RawSlot);
    expect(content.statuses).toHaveLength(64);
    content.addStatus(status(5, 'processed') as RawSlot);
    expect(content.statuses.at(-1)?.status).toBe('processed');
  });
});
