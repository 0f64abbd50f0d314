/** Initial state. Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF". */
const START = [
  0x736f6d65, 0x70736575, 0x646f7261, 0x6e646f6d, 0x6c796765, 0x6e657261, 0x74656462, 0x79746573,
];

const MASK_32 = 0xffff_ffffn;

/** v0 to v3, each split into a high and a low half. */
const state = new Uint32Array(8);

/** 64-bit v[to] += v[from]. */
function add(to: number, from: number): void {
  const low = (state[to + 1] as number) + (state[from + 1] as number);
  state[to + 1] = low;
  state[to] = (state[to] as number) + (state[from] as number) + (low > 0xffff_ffff ? 1 : 0);
}

/** v[at] = v[at] rotated left by fewer than 32 bits, then xor v[by]. */
function rotateXor(at: number, bits: number, by: number): void {
  const high = state[at] as number;
  const low = state[at + 1] as number;
  state[at] = ((high << bits) | (low >>> (32 - bits))) ^ (state[by] as number);
  state[at + 1] = ((low << bits) | (high >>> (32 - bits))) ^ (state[by + 1] as number);
}

/** Rotates v[at] by 32 bits. */
function swap(at: number): void {
  const high = state[at] as number;
  state[at] = state[at + 1] as number;
  state[at + 1] = high;
}

function rounds(count: number): void {
  for (let left = count; left > 0; left--) {
    add(0, 2);
    rotateXor(2, 13, 0);
    swap(0);
    add(4, 6);
    rotateXor(6, 16, 4);
    add(0, 6);
    rotateXor(6, 21, 0);
    add(4, 2);
    rotateXor(2, 17, 4);
    swap(4);
  }
}

/** Swaps the 32-bit halves. */
const rotated = (seed: bigint): bigint => ((seed & MASK_32) << 32n) | (seed >> 32n);

/**
 * SipHash on 32-bit halves, to avoid bigint allocation. `high` and `low` hold the result until the next call. The
 * defaults match Yellowstone's cuckoo filters. Source: yellowstone-grpc-proto, `YellowstoneHasherBuilder`.
 */
export class SipHash {
  high = 0;
  low = 0;
  readonly #start: Uint32Array;
  readonly #compressionRounds: number;
  readonly #finalizationRounds: number;

  constructor(key0: bigint, key1 = rotated(key0), compressionRounds = 2, finalizationRounds = 4) {
    const halves = [key0, key1].flatMap((key) => [Number(key >> 32n), Number(key & MASK_32)]);
    this.#start = Uint32Array.from(START, (each, index) => each ^ (halves[index % 4] as number));
    this.#compressionRounds = compressionRounds;
    this.#finalizationRounds = finalizationRounds;
  }

  bytes(bytes: Uint8Array): void {
    state.set(this.#start);
    const tailAt = bytes.length - (bytes.length % 8);
    for (let at = 0; at < tailAt; at += 8) this.#word(u32(bytes, at + 4), u32(bytes, at));
    const tail = new Uint8Array(8);
    tail.set(bytes.subarray(tailAt));
    tail[7] = bytes.length;
    this.#word(u32(tail, 4), u32(tail, 0));
    this.#finish();
  }

  /** Hashes bytes as Rust hashes a byte array: 8-byte length, then data. @param length - multiple of 8, below 248. */
  key(bytes: Uint8Array, offset: number, length: number): void {
    state.set(this.#start);
    this.#word(0, length);
    for (let at = offset; at < offset + length; at += 8) this.#word(u32(bytes, at + 4), u32(bytes, at));
    this.#word((length + 8) << 24, 0);
    this.#finish();
  }

  u16(value: number): void {
    state.set(this.#start);
    this.#word(2 << 24, value);
    this.#finish();
  }

  #word(high: number, low: number): void {
    state[6] = (state[6] as number) ^ high;
    state[7] = (state[7] as number) ^ low;
    rounds(this.#compressionRounds);
    state[0] = (state[0] as number) ^ high;
    state[1] = (state[1] as number) ^ low;
  }

  #finish(): void {
    state[5] = (state[5] as number) ^ 0xff;
    rounds(this.#finalizationRounds);
    this.high =
      ((state[0] as number) ^ (state[2] as number) ^ (state[4] as number) ^ (state[6] as number)) >>> 0;
    this.low =
      ((state[1] as number) ^ (state[3] as number) ^ (state[5] as number) ^ (state[7] as number)) >>> 0;
  }
}

function u32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}
