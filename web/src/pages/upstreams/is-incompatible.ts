import { ApiProblem } from '../../api.ts';

/** Whether a node was refused for what was found of it, and may be taken all the same. */
export const isIncompatible = (problem: unknown): boolean =>
  problem instanceof ApiProblem && problem.code === 'NODE_NOT_FIT';
