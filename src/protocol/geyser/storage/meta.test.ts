import { expect, it } from 'vitest';
import { ProtobufReader } from '../protobuf.ts';
import { ProtobufWriter } from '../protobuf-writer.ts';
import { readInnerInstructions } from './meta.ts';

it('skips unknown fields of inner instructions', () => {
  const bytes = new ProtobufWriter().uint32(9, 5).uint32(1, 3).finish();
  expect(readInnerInstructions(new ProtobufReader(bytes))).toEqual({ index: 3, instructions: [] });
});
