import { ApiProblem } from '../../api.ts';

export const isIncompatible = (problem: unknown): boolean =>
  problem instanceof ApiProblem && problem.code === 'NODE_NOT_FIT';
