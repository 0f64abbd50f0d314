import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WritableJson, writeJson } from '../../base/json.ts';
import { decodeBody, type RequestId } from './decode.ts';

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
/** As `parseJson` gives integers: number where that is exact. */
const id: fc.Arbitrary<RequestId> = fc.oneof(
  fc.constant(null),
  fc.string(),
  u64.map((value) => (value <= Number.MAX_SAFE_INTEGER ? Number(value) : value)),
);
const call = fc.record({
  id,
  method: fc.string(),
  params: fc.option(fc.array(fc.oneof(fc.string(), fc.integer(), fc.boolean())), { nil: undefined }),
});
const textOf = (calls: WritableJson): string => writeJson(calls);

describe('decodeBody', () => {
  it('gives back every well-formed call', () => {
    fc.assert(
      fc.property(call, (made) => {
        const body = decodeBody(textOf({ jsonrpc: '2.0', ...made }));
        expect(body).toEqual({ kind: 'single', call: { kind: 'call', versioned: true, ...made } });
      }),
    );
  });

  it('gives back every batch in its order', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 8 }), (made) => {
        const body = decodeBody(textOf(made.map((one) => ({ jsonrpc: '2.0', ...one }))));
        const calls = made.map((one) => ({ kind: 'call', versioned: true, ...one }));
        expect(body).toEqual({ kind: 'batch', calls });
      }),
    );
  });

  it('takes any text without an exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(['single', 'batch', 'unparsable']).toContain(decodeBody(text).kind);
      }),
    );
  });
});
