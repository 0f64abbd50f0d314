/**
 * Arithmetic on bytes as elements of GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1. Addition is xor.
 * Source: reed-solomon-erasure, `galois_8`.
 */
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

/** The product of two elements. */
export function multiply(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  return exponentials[(logarithms[a] as number) + (logarithms[b] as number)] as number;
}

/**
 * What times `a` is 1.
 * @param a - not 0.
 */
export const inverse = (a: number): number => exponentials[255 - (logarithms[a] as number)] as number;

/**
 * An element to a power; any to the power 0 is 1.
 * @param exponent - a whole number from 0.
 */
export function power(a: number, exponent: number): number {
  if (exponent === 0) return 1;
  if (a === 0) return 0;
  return exponentials[((logarithms[a] as number) * exponent) % 255] as number;
}

/** Elements in rows and columns; `cells` has the rows one after the other. */
export type Matrix = Readonly<{ rows: number; columns: number; cells: Uint8Array }>;

/** A matrix whose cells are what `cell` gives for each place, counted from 0. */
export function makeMatrix(
  rows: number,
  columns: number,
  cell: (row: number, column: number) => number,
): Matrix {
  const cells = new Uint8Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) cells[row * columns + column] = cell(row, column);
  }
  return { rows, columns, cells };
}

/** The element in a place, counted from 0. */
export const cellOf = ({ cells, columns }: Matrix, row: number, column: number): number =>
  cells[row * columns + column] as number;

/** The product of two matrices: `a` has as many columns as `b` has rows. */
export function multiplyMatrices(a: Matrix, b: Matrix): Matrix {
  return makeMatrix(a.rows, b.columns, (row, column) => {
    let sum = 0;
    for (let i = 0; i < a.columns; i++) sum ^= multiply(cellOf(a, row, i), cellOf(b, i, column));
    return sum;
  });
}

/**
 * The inverse of a square matrix, by Gauss and Jordan.
 * @returns null when it has none.
 */
export function invertMatrix(matrix: Matrix): Matrix | null {
  const size = matrix.rows;
  const width = 2 * size;
  const work = makeMatrix(size, width, (row, column) =>
    column < size ? cellOf(matrix, row, column) : Number(column - size === row),
  ).cells;
  for (let pivot = 0; pivot < size; pivot++) {
    if (!bringPivot(work, width, size, pivot)) return null;
    const scale = inverse(work[pivot * width + pivot] as number);
    for (let i = 0; i < width; i++)
      work[pivot * width + i] = multiply(work[pivot * width + i] as number, scale);
    for (let row = 0; row < size; row++) {
      if (row !== pivot) subtractRow(work, width, row, pivot);
    }
  }
  return makeMatrix(size, size, (row, column) => work[row * width + size + column] as number);
}

/** Swaps a row that has something in the pivot's column into the pivot's place. */
function bringPivot(work: Uint8Array, width: number, size: number, pivot: number): boolean {
  let row = pivot;
  while (row < size && work[row * width + pivot] === 0) row++;
  if (row === size) return false;
  if (row === pivot) return true;
  const held = work.slice(row * width, (row + 1) * width);
  work.copyWithin(row * width, pivot * width, (pivot + 1) * width);
  work.set(held, pivot * width);
  return true;
}

/** Makes the pivot's column of a row 0. */
function subtractRow(work: Uint8Array, width: number, row: number, pivot: number): void {
  const factor = work[row * width + pivot] as number;
  if (factor === 0) return;
  for (let i = pivot; i < width; i++) {
    const at = row * width + i;
    work[at] = (work[at] as number) ^ multiply(factor, work[pivot * width + i] as number);
  }
}
