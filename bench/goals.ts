/** A goal of a benchmark, and the measured value. */
export type Goal = Readonly<{
  goal: string;
  target: number;
  bound: 'least' | 'most';
  measured: number;
  isAchieved: boolean;
}>;

export const atLeast = (goal: string, target: number, measured: number): Goal => ({
  ...{ goal, target, bound: 'least', measured },
  isAchieved: measured >= target,
});

export const atMost = (goal: string, target: number, measured: number): Goal => ({
  ...{ goal, target, bound: 'most', measured },
  isAchieved: measured <= target,
});

const line = ({ goal, target, bound, measured, isAchieved }: Goal): string =>
  `  ${isAchieved ? 'met   ' : 'missed'}  ${goal}: ${measured.toFixed(2)}, target: at ${bound} ${target.toFixed(2)}`;

export const goalsText = (goals: readonly Goal[]): string => ['goals', ...goals.map(line)].join('\n');
