import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIGITS_NUMBER_MAX } from '../base/text/short-bytes.ts';
import { idAfter, nextRequestId, requestBody, requestBytes } from './request-body.ts';

const HEAD = Buffer.from('POST / HTTP/1.1\r\ncontent-length: ');

/** Body of the request; its length must match the head. */
function bodyOf(method: string, params: Buffer | null): string {
  const bytes = requestBytes(HEAD, 5, method, params);
  const [head, ...rest] = bytes.toString().split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  expect(head).toBe(`${HEAD.toString()}${Buffer.byteLength(body)}`);
  expect(requestBody(5, method, params).toString()).toBe(body);
  return body;
}

describe('request bytes', () => {
  it('contain the params byte for byte and an escaped method', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.json(), (method, params) => {
        const text = bodyOf(method, Buffer.from(params));
        expect(text.endsWith(`,"params":${params}}`)).toBe(true);
        expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: 5, method });
      }),
    );
  });

  it('omit absent params', () => {
    expect(bodyOf('getSlot', null)).toBe('{"jsonrpc":"2.0","id":5,"method":"getSlot"}');
  });

  it('have unique ids', () => {
    const ids = Array.from({ length: 100 }, nextRequestId);
    expect(new Set(ids).size).toBe(100);
    expect([idAfter(1), idAfter(DIGITS_NUMBER_MAX - 1), idAfter(DIGITS_NUMBER_MAX)]).toEqual([
      2,
      DIGITS_NUMBER_MAX,
      1,
    ]);
    expect(ids.every((id) => Number.isInteger(id) && id > 0 && id <= DIGITS_NUMBER_MAX)).toBe(true);
  });
});
