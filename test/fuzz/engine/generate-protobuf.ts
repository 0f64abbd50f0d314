import { type Random, randomBytes } from './mutate.ts';

const DEPTH_MAX = 5;
const FIELDS_MAX = 8;
/** Field numbers of most messages. */
const NUMBERS = 17;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
  return [...bytes, left];
}

/** Lengths of keys, signatures, texts and others. */
const LENGTHS = [0, 1, 4, 8, 32, 32, 44, 64, 100];

function content(random: Random, depth: number): Uint8Array {
  if (depth < DEPTH_MAX && random() % 2 === 0) return message(random, depth + 1);
  const length = LENGTHS[random() % LENGTHS.length] ?? 0;
  // Text as often as bytes.
  return random() % 2 === 0
    ? randomBytes(random, length)
    : new Uint8Array(length).fill(0x31 + (random() % 9));
}

function field(random: Random, depth: number): number[] {
  const number = 1 + (random() % NUMBERS);
  switch (random() % 8) {
    case 0:
      return [...varint(number * 8 + 1), ...randomBytes(random, 8)];
    case 1:
      return [...varint(number * 8 + 5), ...randomBytes(random, 4)];
    case 2:
    case 3:
    case 4: {
      const large = random() % 4 === 0 ? random() * 2 ** 20 : random() % 6;
      return [...varint(number * 8), ...varint(large)];
    }
    default: {
      const bytes = content(random, depth);
      return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
    }
  }
}

/** A protobuf message with fields of any number and kind, including nested messages. */
export function message(random: Random, depth = 0): Uint8Array {
  const fields = Array.from({ length: random() % FIELDS_MAX }, () => field(random, depth));
  return Uint8Array.from(fields.flat());
}
