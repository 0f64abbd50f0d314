import { Lru } from '../../base/cache/lru.ts';

/** GF(2^8) with polynomial x^8 + x^4 + x^3 + x^2 + 1; addition is xor. Source: reed-solomon-erasure, `galois_8`. */
const POLYNOMIAL = 0x11d;

const exponentials = new Uint8Array(510);
const logarithms = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  exponentials[power] = value;
  exponentials[power + 255] = value;
  logarithms[value] = power;
  value <<= 1;
  if (value > 0xff) value ^= POLYNOMIAL;
}

function multiply(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  return exponentials[(logarithms[a] as number) + (logarithms[b] as number)] as number;
}

/** @param a - must not be 0. */
const inverse = (a: number): number => exponentials[255 - (logarithms[a] as number)] as number;

/** Any element to the power 0 is 1. */
function power(a: number, exponent: number): number {
  if (exponent === 0) return 1;
  if (a === 0) return 0;
  return exponentials[((logarithms[a] as number) * exponent) % 255] as number;
}

/** `cells` are stored row by row. */
type Matrix = Readonly<{ rows: number; columns: number; cells: Uint8Array }>;

function makeMatrix(rows: number, columns: number, cell: (row: number, column: number) => number): Matrix {
  const cells = new Uint8Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) cells[row * columns + column] = cell(row, column);
  }
  return { rows, columns, cells };
}

const cellOf = ({ cells, columns }: Matrix, row: number, column: number): number =>
  cells[row * columns + column] as number;

function multiplyMatrices(a: Matrix, b: Matrix): Matrix {
  return makeMatrix(a.rows, b.columns, (row, column) => {
    let sum = 0;
    for (let i = 0; i < a.columns; i++) sum ^= multiply(cellOf(a, row, i), cellOf(b, i, column));
    return sum;
  });
}

/** Gauss-Jordan elimination. @returns null if the matrix is singular. */
function invertMatrix(matrix: Matrix): Matrix | null {
  const size = matrix.rows;
  const width = 2 * size;
  const work = makeMatrix(size, width, (row, column) =>
    column < size ? cellOf(matrix, row, column) : Number(column - size === row),
  ).cells;
  for (let pivot = 0; pivot < size; pivot++) {
    if (!swapPivotRow(work, width, size, pivot)) return null;
    const scale = inverse(work[pivot * width + pivot] as number);
    for (let i = 0; i < width; i++)
      work[pivot * width + i] = multiply(work[pivot * width + i] as number, scale);
    for (let row = 0; row < size; row++) {
      if (row !== pivot) subtractRow(work, width, row, pivot);
    }
  }
  return makeMatrix(size, size, (row, column) => work[row * width + size + column] as number);
}

function swapPivotRow(work: Uint8Array, width: number, size: number, pivot: number): boolean {
  let row = pivot;
  while (row < size && work[row * width + pivot] === 0) row++;
  if (row === size) return false;
  if (row === pivot) return true;
  const held = work.slice(row * width, (row + 1) * width);
  work.copyWithin(row * width, pivot * width, (pivot + 1) * width);
  work.set(held, pivot * width);
  return true;
}

function subtractRow(work: Uint8Array, width: number, row: number, pivot: number): void {
  const factor = work[row * width + pivot] as number;
  if (factor === 0) return;
  for (let i = pivot; i < width; i++) {
    const at = row * width + i;
    work[at] = (work[at] as number) ^ multiply(factor, work[pivot * width + i] as number);
  }
}

/** Size of GF(2^8), and therefore the maximum number of data and code shreds in a set. */
const SHARDS_MAX = 256;
/** Maximum number of cached shapes (pairs of data and code shred counts). Leaders currently use a single shape. */
const SHAPES_MAX = 16;
const PATTERNS_MAX = 64;
/** Number of outputs computed together; a table entry holds one byte of each. */
const LANES = 4;

/** Systematic code with a Vandermonde matrix: any `numData` shreds restore the others. */
export class ReedSolomon {
  readonly numData: number;
  readonly numCode: number;
  readonly #parity: Matrix;
  readonly #patterns = new Lru<string, Matrix>(PATTERNS_MAX);

  /** @throws RangeError if there are no data shreds, or more than 256 shreds in total. */
  constructor(numData: number, numCode: number) {
    if (!(numData >= 1 && numCode >= 0 && numData + numCode <= SHARDS_MAX)) {
      throw new RangeError(`unsupported shape: ${numData} data and ${numCode} code shards`);
    }
    this.numData = numData;
    this.numCode = numCode;
    const top = invertMatrix(makeMatrix(numData, numData, power)) as Matrix;
    const bottom = makeMatrix(numCode, numData, (row, column) => power(numData + row, column));
    this.#parity = multiplyMatrices(bottom, top);
  }

  /** @param wanted - positions of the code shreds to compute. @param into - receives their bytes. */
  encode(data: readonly Uint8Array[], wanted: readonly number[], into: readonly Uint8Array[]): void {
    const rows = makeMatrix(wanted.length, this.numData, (row, column) =>
      cellOf(this.#parity, wanted[row] as number, column),
    );
    applyMatrix(rows, data, into);
  }

  /** @param shards - data, then code shreds, of equal length; null if lost. @returns null if too many are lost. */
  recoverData(shards: readonly (Uint8Array | null)[]): Uint8Array[] | null {
    const missing: number[] = [];
    for (let i = 0; i < this.numData; i++) if (shards[i] == null) missing.push(i);
    const code: number[] = [];
    for (let i = 0; i < this.numCode && code.length < missing.length; i++) {
      if (shards[this.numData + i] != null) code.push(i);
    }
    if (code.length < missing.length) return null;
    const isPresent = (shard: Uint8Array | null | undefined): shard is Uint8Array => shard != null;
    const inputs = shards.slice(0, this.numData).filter(isPresent);
    inputs.push(...code.map((position) => shards[this.numData + position]).filter(isPresent));
    const recovered = missing.map(() => new Uint8Array(inputs[0]?.length ?? 0));
    applyMatrix(this.#decodeMatrix(missing, code), inputs, recovered);
    let next = 0;
    return Array.from({ length: this.numData }, (_, i) => shards[i] ?? (recovered[next++] as Uint8Array));
  }

  /** One row per missing data shred; the columns are the present data shreds, then the code shreds. */
  #decodeMatrix(missing: readonly number[], code: readonly number[]): Matrix {
    const key = `${missing}/${code}`;
    const known = this.#patterns.get(key);
    if (known !== undefined) return known;
    const present = Array.from({ length: this.numData }, (_, i) => i).filter((i) => !missing.includes(i));
    // A code shred is a sum over missing and present data shreds; solve for the missing shreds.
    const solved = invertMatrix(
      makeMatrix(code.length, missing.length, (row, column) =>
        cellOf(this.#parity, code[row] as number, missing[column] as number),
      ),
    ) as Matrix;
    const rest = makeMatrix(code.length, present.length, (row, column) =>
      cellOf(this.#parity, code[row] as number, present[column] as number),
    );
    const presentCoefficients = multiplyMatrices(solved, rest);
    const matrix = makeMatrix(missing.length, this.numData, (row, column) =>
      column < present.length
        ? cellOf(presentCoefficients, row, column)
        : cellOf(solved, row, column - present.length),
    );
    this.#patterns.set(key, matrix);
    return matrix;
  }
}

const shapes = new Lru<number, ReedSolomon>(SHAPES_MAX);

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

/** Stores what each byte value of one input contributes to up to four outputs. */
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

/** Length without the zeros at the end, which add nothing to a sum. Most of a small batch is padding. */
function lengthWithoutZeros(bytes: Uint8Array): number {
  let length = bytes.length;
  while (length > 0 && bytes[length - 1] === 0) length--;
  return length;
}

/** Each output is the sum of the inputs, weighted by the output's row of the matrix. */
function applyMatrix(matrix: Matrix, inputs: readonly Uint8Array[], outputs: readonly Uint8Array[]): void {
  const length = inputs[0]?.length ?? 0;
  if (sums.length < length) sums = new Uint32Array(length);
  const used = inputs.map(lengthWithoutZeros);
  for (let row = 0; row < matrix.rows; row += LANES) {
    sums.fill(0, 0, length);
    let column = 0;
    for (; column + 1 < matrix.columns; column += 2) {
      fillTable(tableA, matrix, row, column);
      fillTable(tableB, matrix, row, column + 1);
      const usedOfBoth = Math.max(used[column] as number, used[column + 1] as number);
      addTwo(inputs[column] as Uint8Array, inputs[column + 1] as Uint8Array, usedOfBoth);
    }
    if (column < matrix.columns) {
      fillTable(tableA, matrix, row, column);
      addOne(inputs[column] as Uint8Array, used[column] as number);
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
