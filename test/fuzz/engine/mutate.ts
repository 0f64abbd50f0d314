import { looksLikeJson, mutateJson } from './mutate-json.ts';

/** A stream of 32-bit numbers, determined by a seed. */
export type Random = () => number;

/** Mulberry32: small, fast, good enough to pick bytes. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

export function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random() & 0xff);
}

/** Bytes at boundaries of length prefixes, tags and signs. */
const EDGES = [0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xfe, 0xff];

type Mutation = (bytes: Uint8Array, random: Random) => Uint8Array;

const mutations: readonly Mutation[] = [
  (bytes, random) => withByte(bytes, random, random() & 0xff),
  (bytes, random) => withByte(bytes, random, EDGES[random() % EDGES.length] ?? 0),
  (bytes, random) => withByte(bytes, random, 1 << (random() & 7)),
  (bytes, random) => bytes.slice(0, random() % (bytes.length + 1)),
  (bytes, random) => splice(bytes, random() % (bytes.length + 1), 0, randomBytes(random, 1 + (random() % 8))),
  (bytes, random) => splice(bytes, random() % (bytes.length + 1), 1 + (random() % 8), new Uint8Array()),
  (bytes, random) => splice(bytes, bytes.length, 0, randomBytes(random, 1 + (random() % 40))),
];

function withByte(bytes: Uint8Array, random: Random, value: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  if (changed.length > 0) changed[random() % changed.length] = value;
  return changed;
}

function splice(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  return Uint8Array.from([...bytes.subarray(0, at), ...added, ...bytes.subarray(at + removed)]);
}

export function mutate(seed: Uint8Array, random: Random): Uint8Array {
  let bytes = seed;
  const rounds = 1 + (random() % 4);
  for (let i = 0; i < rounds; i++) {
    const mutation = mutations[random() % mutations.length];
    if (mutation !== undefined) bytes = mutation(bytes, random);
  }
  return bytes;
}

function cross(seed: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const tail = other.subarray(random() % (other.length + 1));
  return Uint8Array.from([...seed.subarray(0, random() % (seed.length + 1)), ...tail]);
}

const anyOf = (seeds: readonly Uint8Array[], random: Random): Uint8Array =>
  seeds[random() % seeds.length] as Uint8Array;

/** Random bytes one time in eight, otherwise a mutated seed; in JSON mostly values are mutated. */
export function nextInput(seeds: readonly Uint8Array[], random: Random): Uint8Array {
  const dice = random() % 8;
  if (seeds.length === 0 || dice === 0) return randomBytes(random, random() % 300);
  const seed = anyOf(seeds, random);
  if (dice === 1) return cross(seed, anyOf(seeds, random), random);
  if (dice < 6 && looksLikeJson(seed)) return mutateJson(seed, random);
  return mutate(seed, random);
}
