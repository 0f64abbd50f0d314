/** What a benchmark is to show, and what it showed. */
export type Goal = Readonly<{
  goal: string;
  wanted: number;
  /** Whether what is wanted is the least that will do, or the most. */
  bound: 'least' | 'most';
  found: number;
  isMet: boolean;
}>;

/** At least so much is wanted. */
export const atLeast = (goal: string, wanted: number, found: number): Goal => ({
  ...{ goal, wanted, bound: 'least', found },
  isMet: found >= wanted,
});

/** No more than that is wanted. */
export const atMost = (goal: string, wanted: number, found: number): Goal => ({
  ...{ goal, wanted, bound: 'most', found },
  isMet: found <= wanted,
});

const line = ({ goal, wanted, bound, found, isMet }: Goal): string =>
  `  ${isMet ? 'met   ' : 'missed'}  ${goal}: ${found.toFixed(2)}, at ${bound} ${wanted.toFixed(2)} wanted`;

/** The goals as a person reads them. */
export const goalsText = (goals: readonly Goal[]): string => ['goals', ...goals.map(line)].join('\n');
