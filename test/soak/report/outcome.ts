/** A promise, and whether it was kept. */
export type Outcome = Readonly<{
  promise: string;
  /** null: the run cannot tell. */
  isFulfilled: boolean | null;
  /** What was found, in figures. */
  found: string;
  /** What broke it; the first few. */
  faults: readonly string[];
}>;

const FAULTS_SHOWN = 10;

/** A promise that holds as long as there is no fault. */
export const outcomeOf = (promise: string, found: string, faults: readonly string[]): Outcome => ({
  ...{ promise, found, isFulfilled: faults.length === 0 },
  faults:
    faults.length > FAULTS_SHOWN
      ? [...faults.slice(0, FAULTS_SHOWN), `and ${faults.length - FAULTS_SHOWN} more`]
      : faults,
});

/** A promise of which the run cannot tell whether it holds. */
export const notEvaluated = (promise: string, why: string): Outcome => ({
  ...{ promise, isFulfilled: null, found: `not judged: ${why}`, faults: [] },
});

/** Whether every promise was kept, as far as the run could tell. */
export const isWhole = (outcomes: readonly Outcome[]): boolean =>
  outcomes.every(({ isFulfilled }) => isFulfilled !== false);
