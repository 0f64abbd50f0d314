import { describe, expect, it } from 'vitest';
import { Failure, type FailureCode, failures } from '../../protocol/errors.ts';
import { invalidParams } from '../../protocol/rpc-error.ts';
import { batchFrame, closeReason, errorBody, failureOf, PING_FRAME, pongFrame } from './encode.ts';

it('joins batch responses into one array frame in their order', () => {
  const pieces = (...texts: string[]) => texts.map((text) => Buffer.from(text));
  const frame = batchFrame([pieces('{"a":', '1}'), pieces('2'), pieces('[', ']')]);
  expect(frame.subarray(0, 2)).toEqual(Buffer.from([0x81, 14]));
  expect(frame.subarray(2).toString()).toBe('[{"a":1},2,[]]');
});

it('writes pings and pongs as final, unmasked frames', () => {
  expect(PING_FRAME).toEqual(Buffer.from([0x89, 0]));
  expect(pongFrame(Buffer.alloc(0))).toEqual(Buffer.from([0x8a, 0]));
  const longest = pongFrame(Buffer.alloc(125, 7));
  expect(longest.subarray(0, 2)).toEqual(Buffer.from([0x8a, 125]));
  expect(longest.subarray(2)).toEqual(Buffer.alloc(125, 7));
});

/** Close codes that a server may send. Source: RFC 6455 §7.4, IANA registry. */
const codes = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011, 1012, 1013];

describe('closeReason', () => {
  it.each(Object.keys(failures) as FailureCode[])('fits %s into a close frame', (code) => {
    const reason = closeReason(new Failure(code));
    expect(reason).toBe(`${code}: ${failures[code].text}`);
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    expect(codes).toContain(failures[code].close);
  });

  it('includes how far a lagging client is behind', () => {
    const facts = { bytes: 8_388_608, messages: 12_345 };
    const reason = closeReason(new Failure('LAGGING', { facts }));
    expect(reason).toContain('(8388608 bytes behind)');
    const far = closeReason(new Failure('LAGGING', { facts: { bytes: Number.MAX_SAFE_INTEGER } }));
    expect(far.length).toBeLessThanOrEqual(123);
    expect(far).toContain('9007199254740991 bytes behind)');
  });

  it.each([
    [1002, 1002],
    [1007, 1007],
    [1008, 1009],
    [1009, 1009],
    [4000, 1002],
  ])('maps the close code %i proposed by ws to %i', (proposed, sent) => {
    expect(failureOf(proposed, 1_048_576).row.close).toBe(sent);
  });

  it('includes the message size limit', () => {
    const reason = closeReason(failureOf(1009, 1_048_576));
    expect(reason).toBe(
      'MESSAGE_TOO_LARGE: The message is larger than this key may send (at most 1048576 bytes)',
    );
    expect(closeReason(failureOf(1008, 1_048_576))).not.toContain('1048576');
  });
});

it('writes failures as JSON-RPC errors', () => {
  expect(String(errorBody(invalidParams('wrong', { a: 2n ** 60n })))).toBe(
    '{"code":-32602,"message":"wrong","data":{"a":1152921504606846976}}',
  );
  expect(String(errorBody(invalidParams('wrong')))).toBe('{"code":-32602,"message":"wrong"}');
  expect(JSON.parse(String(errorBody(new Failure('OVERLOADED'))))).toMatchObject({
    code: -32054,
    data: { code: 'OVERLOADED', retryAfter: 1 },
  });
});
