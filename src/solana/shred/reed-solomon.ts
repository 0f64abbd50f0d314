import { Lru } from '../../base/cache/lru.ts';
import {
  cellOf,
  invertMatrix,
  type Matrix,
  makeMatrix,
  multiply,
  multiplyMatrices,
  power,
} from './galois-field.ts';

/** Data and code shards together; there are no more different rows over bytes. */
const SHARDS_MAX = 256;
/** Shapes of sets whose matrix is kept; there is one in use today. */
const SHAPES_MAX = 16;
/** Patterns of loss whose matrix is kept. */
const PATTERNS_MAX = 64;
/** Outputs that are worked on at once: a table's entry holds a byte of each. */
const LANES = 4;

/**
 * Reed-Solomon over bytes: any `numData` of `numData + numCode` shards give back all the others. Systematic; the
 * matrix is Vandermonde's times the inverse of its top. Source: reed-solomon-erasure, `galois_8`.
 */
export class ReedSolomon {
  readonly numData: number;
  readonly numCode: number;
  /** A row for each code shard. */
  readonly #parity: Matrix;
  readonly #patterns = new Lru<string, Matrix>(PATTERNS_MAX);

  /** @throws RangeError when there is no data, or there are more than 256 shards: a defect in the program. */
  constructor(numData: number, numCode: number) {
    if (!(numData >= 1 && numCode >= 0 && numData + numCode <= SHARDS_MAX)) {
      throw new RangeError(`no code has ${numData} data and ${numCode} code shards`);
    }
    this.numData = numData;
    this.numCode = numCode;
    const top = invertMatrix(makeMatrix(numData, numData, power)) as Matrix;
    const bottom = makeMatrix(numCode, numData, (row, column) => power(numData + row, column));
    this.#parity = multiplyMatrices(bottom, top);
  }

  /**
   * Computes code shards.
   * @param data - all data shards, of one length.
   * @param wanted - the positions among the code shards, and where to put them: arrays of that length.
   */
  encode(data: readonly Uint8Array[], wanted: readonly number[], into: readonly Uint8Array[]): void {
    const rows = makeMatrix(wanted.length, this.numData, (row, column) =>
      cellOf(this.#parity, wanted[row] as number, column),
    );
    applyMatrix(rows, data, into);
  }

  /**
   * Computes the data shards that are missing.
   * @param shards - data, then code shards, of one length; null where missing.
   * @returns all data shards; null when fewer than `numData` shards are there.
   */
  recoverData(shards: readonly (Uint8Array | null)[]): Uint8Array[] | null {
    const missing: number[] = [];
    for (let i = 0; i < this.numData; i++) if (shards[i] == null) missing.push(i);
    const code: number[] = [];
    for (let i = 0; i < this.numCode && code.length < missing.length; i++) {
      if (shards[this.numData + i] != null) code.push(i);
    }
    if (code.length < missing.length) return null;
    const isThere = (shard: Uint8Array | null | undefined): shard is Uint8Array => shard != null;
    const inputs = shards.slice(0, this.numData).filter(isThere);
    inputs.push(...code.map((position) => shards[this.numData + position]).filter(isThere));
    const recovered = missing.map(() => new Uint8Array(inputs[0]?.length ?? 0));
    applyMatrix(this.#decodeMatrix(missing, code), inputs, recovered);
    let next = 0;
    return Array.from({ length: this.numData }, (_, i) => shards[i] ?? (recovered[next++] as Uint8Array));
  }

  /** A row for each missing data shard, over the data shards that are there and then the code shards. */
  #decodeMatrix(missing: readonly number[], code: readonly number[]): Matrix {
    const key = `${missing}/${code}`;
    const known = this.#patterns.get(key);
    if (known !== undefined) return known;
    const there = Array.from({ length: this.numData }, (_, i) => i).filter((i) => !missing.includes(i));
    // A code shard is the sum of what is missing and what is there: solved for the former.
    const solved = invertMatrix(
      makeMatrix(code.length, missing.length, (row, column) =>
        cellOf(this.#parity, code[row] as number, missing[column] as number),
      ),
    ) as Matrix;
    const rest = makeMatrix(code.length, there.length, (row, column) =>
      cellOf(this.#parity, code[row] as number, there[column] as number),
    );
    const overThere = multiplyMatrices(solved, rest);
    const matrix = makeMatrix(missing.length, this.numData, (row, column) =>
      column < there.length ? cellOf(overThere, row, column) : cellOf(solved, row, column - there.length),
    );
    this.#patterns.set(key, matrix);
    return matrix;
  }
}

const shapes = new Lru<number, ReedSolomon>(SHAPES_MAX);

/** The code of a shape; those in use are kept. */
export function reedSolomon(numData: number, numCode: number): ReedSolomon {
  const key = numData * (SHARDS_MAX + 1) + numCode;
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const made = new ReedSolomon(numData, numCode);
  shapes.set(key, made);
  return made;
}

const tableA = new Uint32Array(256);
const tableB = new Uint32Array(256);
let sums = new Uint32Array(2048);

/** What a byte of one input adds to four outputs, for each value that it can have. */
function fillTable(table: Uint32Array, matrix: Matrix, firstRow: number, column: number): void {
  const lanes = Math.min(LANES, matrix.rows - firstRow);
  table[0] = 0;
  for (let bit = 1; bit < 256; bit <<= 1) {
    let packed = 0;
    for (let lane = 0; lane < lanes; lane++) {
      packed |= multiply(cellOf(matrix, firstRow + lane, column), bit) << (8 * lane);
    }
    for (let i = 0; i < bit; i++) table[bit + i] = (table[i] as number) ^ packed;
  }
}

/** Each output is the sum of all inputs, each times its cell of the output's row. */
function applyMatrix(matrix: Matrix, inputs: readonly Uint8Array[], outputs: readonly Uint8Array[]): void {
  const length = inputs[0]?.length ?? 0;
  if (sums.length < length) sums = new Uint32Array(length);
  for (let row = 0; row < matrix.rows; row += LANES) {
    sums.fill(0, 0, length);
    let column = 0;
    for (; column + 1 < matrix.columns; column += 2) {
      fillTable(tableA, matrix, row, column);
      fillTable(tableB, matrix, row, column + 1);
      addTwo(inputs[column] as Uint8Array, inputs[column + 1] as Uint8Array, length);
    }
    if (column < matrix.columns) {
      fillTable(tableA, matrix, row, column);
      addOne(inputs[column] as Uint8Array, length);
    }
    for (let lane = 0; lane < LANES && row + lane < matrix.rows; lane++) {
      takeLane(outputs[row + lane] as Uint8Array, 8 * lane, length);
    }
  }
}

function addOne(input: Uint8Array, length: number): void {
  for (let i = 0; i < length; i++) sums[i] = (sums[i] as number) ^ (tableA[input[i] as number] as number);
}

function addTwo(a: Uint8Array, b: Uint8Array, length: number): void {
  for (let i = 0; i < length; i++) {
    sums[i] = (sums[i] as number) ^ (tableA[a[i] as number] as number) ^ (tableB[b[i] as number] as number);
  }
}

function takeLane(output: Uint8Array, shift: number, length: number): void {
  for (let i = 0; i < length; i++) output[i] = (sums[i] as number) >>> shift;
}
