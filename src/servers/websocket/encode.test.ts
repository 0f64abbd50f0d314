import { expect, it } from 'vitest';
import { batchFrame, PING_FRAME, pongFrame } from './encode.ts';

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
