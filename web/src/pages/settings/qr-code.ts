/** QR codes (ISO/IEC 18004) up to 271 bytes: byte mode, level L, versions 1 to 10. Avoids a library for setup URIs. */

/** By version: total code words, blocks, and error correction code words per block, at level L. */
const versions = [
  [26, 1, 7],
  [44, 1, 10],
  [70, 1, 15],
  [100, 1, 20],
  [134, 1, 26],
  [172, 2, 18],
  [196, 2, 20],
  [242, 2, 24],
  [292, 2, 30],
  [346, 4, 18],
] as const;

/** Alignment pattern centers, by version. */
const alignments: readonly (readonly number[])[] = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];

/** Format bits of level L. */
const LEVEL_BITS = 1;

/** Multiplication in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> bit) & 1) * a;
  }
  return product;
}

/** Reed-Solomon generator polynomial, without its leading 1. */
function generator(degree: number): Uint8Array {
  const result = new Uint8Array(degree);
  result[degree - 1] = 1;
  let root = 1;
  for (let i = 0; i < degree; i++) {
    for (let j = 0; j < degree; j++)
      result[j] = multiply(result[j] as number, root) ^ (j + 1 < degree ? (result[j + 1] as number) : 0);
    root = multiply(root, 2);
  }
  return result;
}

function correctionOf(data: Uint8Array, divisor: Uint8Array): Uint8Array {
  const result = new Uint8Array(divisor.length);
  for (const word of data) {
    const factor = word ^ (result[0] as number);
    result.copyWithin(0, 1);
    result[result.length - 1] = 0;
    divisor.forEach((part, i) => {
      result[i] = (result[i] as number) ^ multiply(part, factor);
    });
  }
  return result;
}

function dataWords(bytes: Uint8Array, version: number, capacity: number): Uint8Array {
  const lengthBits = version < 10 ? 8 : 16;
  const bits: number[] = [];
  const push = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1);
  };
  push(0b0100, 4);
  push(bytes.length, lengthBits);
  for (const byte of bytes) push(byte, 8);
  push(0, Math.min(4, capacity * 8 - bits.length));
  while (bits.length % 8 !== 0) bits.push(0);
  const words = new Uint8Array(capacity);
  bits.forEach((bit, i) => {
    words[i >> 3] = (words[i >> 3] as number) | (bit << (7 - (i & 7)));
  });
  for (let i = bits.length >> 3, pad = 0xec; i < capacity; i++, pad ^= 0xec ^ 0x11) words[i] = pad;
  return words;
}

function codeWords(bytes: Uint8Array, version: number): Uint8Array {
  const [total, blocks, correction] = versions[version - 1] as (typeof versions)[number];
  const data = dataWords(bytes, version, total - blocks * correction);
  const divisor = generator(correction);
  const shortLength = Math.floor(data.length / blocks);
  const longBlocks = data.length % blocks;
  const parts: { data: Uint8Array; correction: Uint8Array }[] = [];
  for (let block = 0, at = 0; block < blocks; block++) {
    const length = shortLength + (block >= blocks - longBlocks ? 1 : 0);
    const part = data.subarray(at, at + length);
    parts.push({ data: part, correction: correctionOf(part, divisor) });
    at += length;
  }
  const woven: number[] = [];
  for (let i = 0; i <= shortLength; i++)
    for (const part of parts) if (i < part.data.length) woven.push(part.data[i] as number);
  for (let i = 0; i < correction; i++) for (const part of parts) woven.push(part.correction[i] as number);
  return Uint8Array.from(woven);
}

class Drawing {
  readonly size: number;
  readonly dark: boolean[][];
  readonly fixed: boolean[][];
  readonly #version: number;

  constructor(version: number) {
    this.#version = version;
    this.size = version * 4 + 17;
    const blank = (): boolean[][] =>
      Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false));
    this.dark = blank();
    this.fixed = blank();
    this.#patterns();
  }

  #set(x: number, y: number, isDark: boolean): void {
    if (x < 0 || y < 0 || x >= this.size || y >= this.size) return;
    (this.dark[y] as boolean[])[x] = isDark;
    (this.fixed[y] as boolean[])[x] = true;
  }

  #patterns(): void {
    const { size } = this;
    for (let i = 0; i < size; i++) {
      this.#set(6, i, i % 2 === 0);
      this.#set(i, 6, i % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [size - 4, 3],
      [3, size - 4],
    ] as const)
      this.#rings(x, y, 4, [2, 4]);
    const centres = alignments[this.#version - 1] ?? [];
    const last = centres.at(-1);
    for (const x of centres)
      for (const y of centres) {
        const isFinder = (x === 6 && (y === 6 || y === last)) || (x === last && y === 6);
        if (!isFinder) this.#rings(x, y, 2, [1]);
      }
    this.format(0);
    this.#versionBits();
  }

  #rings(x: number, y: number, radius: number, light: readonly number[]): void {
    for (let dy = -radius; dy <= radius; dy++)
      for (let dx = -radius; dx <= radius; dx++)
        this.#set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
  }

  format(mask: number): void {
    const data = (LEVEL_BITS << 3) | mask;
    let rest = data;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const bits = ((data << 10) | rest) ^ 0x5412;
    const bit = (i: number): boolean => ((bits >>> i) & 1) === 1;
    const { size } = this;
    for (let i = 0; i < 6; i++) this.#set(8, i, bit(i));
    this.#set(8, 7, bit(6));
    this.#set(8, 8, bit(7));
    this.#set(7, 8, bit(8));
    for (let i = 9; i < 15; i++) this.#set(14 - i, 8, bit(i));
    for (let i = 0; i < 8; i++) this.#set(size - 1 - i, 8, bit(i));
    for (let i = 8; i < 15; i++) this.#set(8, size - 15 + i, bit(i));
    this.#set(8, size - 8, true);
  }

  #versionBits(): void {
    if (this.#version < 7) return;
    let rest = this.#version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (this.#version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const isDark = ((bits >>> i) & 1) === 1;
      const [a, b] = [this.size - 11 + (i % 3), Math.floor(i / 3)];
      this.#set(a, b, isDark);
      this.#set(b, a, isDark);
    }
  }

  words(words: Uint8Array, mask: number): void {
    let at = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      for (let step = 0; step < this.size; step++) {
        const isUp = ((right + 1) & 2) === 0;
        const y = isUp ? this.size - 1 - step : step;
        for (const x of [right, right - 1]) {
          if (this.fixed[y]?.[x] === true) continue;
          const bit = at < words.length * 8 && (((words[at >> 3] as number) >>> (7 - (at & 7))) & 1) === 1;
          (this.dark[y] as boolean[])[x] = bit !== isMasked(mask, x, y);
          at++;
        }
      }
    }
  }
}

function isMasked(mask: number, x: number, y: number): boolean {
  const rules = [
    (x + y) % 2,
    y % 2,
    x % 3,
    (x + y) % 3,
    (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
    ((x * y) % 2) + ((x * y) % 3),
    (((x * y) % 2) + ((x * y) % 3)) % 2,
    (((x + y) % 2) + ((x * y) % 3)) % 2,
  ];
  return rules[mask] === 0;
}

/** Penalty score of a mask. */
function penalty(dark: readonly (readonly boolean[])[]): number {
  const size = dark.length;
  let result = 0;
  for (const at of [(a: number, b: number) => dark[a]?.[b], (a: number, b: number) => dark[b]?.[a]])
    for (let a = 0; a < size; a++)
      for (let b = 1, run = 1; b <= size; b++) {
        if (b < size && at(a, b) === at(a, b - 1)) run++;
        else {
          if (run >= 5) result += run - 2;
          run = 1;
        }
      }
  let count = 0;
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const here = dark[y]?.[x];
      if (here === true) count++;
      if (here === dark[y]?.[x + 1] && here === dark[y + 1]?.[x] && here === dark[y + 1]?.[x + 1])
        result += 3;
    }
  return result + 10 * Math.floor(Math.abs((count * 20) / (size * size) - 10));
}

/** @returns rows of modules, true for dark; null if the text is too long. */
export function qrModules(text: string): readonly (readonly boolean[])[] | null {
  const bytes = new TextEncoder().encode(text);
  const at = versions.findIndex(([total, blocks, correction], index) => {
    const head = index + 1 < 10 ? 12 : 20;
    return (total - blocks * correction) * 8 >= head + bytes.length * 8;
  });
  if (at === -1) return null;
  const words = codeWords(bytes, at + 1);
  const drawings = Array.from({ length: 8 }, (_, mask) => {
    const drawing = new Drawing(at + 1);
    drawing.format(mask);
    drawing.words(words, mask);
    return drawing.dark;
  });
  return drawings.reduce((best, one) => (penalty(one) < penalty(best) ? one : best));
}
