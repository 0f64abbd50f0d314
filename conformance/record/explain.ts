import type { RecordedRow } from './record-cases.ts';

/** Why some cases differ from the recording; the file is beside the recordings. */
export type Reason = Readonly<{
  reason: string;
  /** Names of cases in which the embedded ledger responds otherwise. */
  ledger?: readonly string[];
  /** Names of cases in which the gateway responds otherwise than both the ledger and the recording. */
  gateway?: readonly string[];
}>;

export type Explained = Readonly<{
  equal: number;
  /** Cases with a reason. */
  explained: number;
  /** Cases without one. */
  unexplained: readonly string[];
  /** Cases with a reason that do not differ, or do not exist. */
  unnecessary: readonly string[];
}>;

const textOf = ({ response }: RecordedRow): string => JSON.stringify(response);

/** Rows that differ from all rows of their name in `expected`. */
export function differing(
  rows: readonly RecordedRow[],
  ...expected: readonly (readonly RecordedRow[])[]
): RecordedRow[] {
  const known = expected.map((list) => new Map(list.map((row) => [row.name, textOf(row)])));
  return rows.filter((row) => known.every((texts) => texts.get(row.name) !== textOf(row)));
}

export function explain(
  rows: readonly RecordedRow[],
  different: readonly RecordedRow[],
  named: readonly string[],
): Explained {
  const names = new Set(different.map(({ name }) => name));
  const reasons = new Set(named);
  return {
    equal: rows.length - different.length,
    explained: [...names].filter((name) => reasons.has(name)).length,
    unexplained: [...names].filter((name) => !reasons.has(name)),
    unnecessary: named.filter((name, index) => !names.has(name) || named.indexOf(name) !== index),
  };
}
