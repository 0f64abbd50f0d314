import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextRequestId, requestBody } from './request-body.ts';

describe('the request to a node', () => {
  it('holds the params byte for byte and escapes the method', () => {
    fc.assert(
      fc.property(fc.string(), fc.json(), (method, params) => {
        const text = requestBody(5, method, Buffer.from(params)).toString();
        expect(text.endsWith(`,"params":${params}}`)).toBe(true);
        expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: 5, method });
      }),
    );
  });

  it('leaves absent params out', () => {
    expect(requestBody(5, 'getSlot', null).toString()).toBe('{"jsonrpc":"2.0","id":5,"method":"getSlot"}');
  });

  it('has an id that no other one has', () => {
    const ids = Array.from({ length: 100 }, nextRequestId);
    expect(new Set(ids).size).toBe(100);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });
});
