/** What a benchmark is to show, and what it showed. */
export type Goal = Readonly<{
  goal: string;
  target: number;
  /** Whether what is wanted is the least that will do, or the most. */
  bound: 'least' | 'most';
  measured: number;
  isAchieved: boolean;
}>;

/** At least so much is wanted. */
export const atLeast = (goal: string, target: number, measured: number): Goal => ({
  ...{ goal, target, bound: 'least', measured },
  isAchieved: measured >= target,
});

/** No more than that is wanted. */
export const atMost = (goal: string, target: number, measured: number): Goal => ({
  ...{ goal, target, bound: 'most', measured },
  isAchieved: measured <= target,
});

const line = ({ goal, target, bound, measured, isAchieved }: Goal): string =>
  `  ${isAchieved ? 'met   ' : 'missed'}  ${goal}: ${measured.toFixed(2)}, at ${bound} ${target.toFixed(2)} wanted`;

/** The goals as a person reads them. */
export const goalsText = (goals: readonly Goal[]): string => ['goals', ...goals.map(line)].join('\n');
