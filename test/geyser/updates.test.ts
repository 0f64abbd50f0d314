import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSubscribeUpdate } from '../../src/protocol/geyser/subscribe-update.ts';
import { envelope, updates } from './arbitrary.ts';
import { readShape, shapeOf } from './shapes.ts';

describe('decoding a Geyser update', () => {
  it.each(Object.keys(updates) as (keyof typeof updates)[])('reads %s', (kind) => {
    fc.assert(
      fc.property(updates[kind], envelope, (update, around) => {
        const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ...around, ...update })).finish();
        const ours = decodeSubscribeUpdate(wire);
        const theirs = SubscribeUpdate.decode(wire);
        expect(ours.filters).toEqual(theirs.filters);
        expect(ours.createdAt).toEqual(
          theirs.createdAt === undefined ? null : BigInt(theirs.createdAt.getTime()),
        );
        expect(ours.update?.kind).toBe(kind);
        expect(shapeOf(ours.update!)).toEqual(readShape(kind, theirs));
      }),
      { numRuns: 150 },
    );
  });

  it('returns null for an unknown kind', () => {
    expect(decodeSubscribeUpdate(Uint8Array.of(0x0a, 1, 0x61, 0x9a, 6, 1, 0)).update).toBeNull();
  });
});
