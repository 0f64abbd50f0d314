import { ApiProblem } from '../../api.ts';

export const isIncompatible = (problem: unknown): problem is ApiProblem =>
  problem instanceof ApiProblem && problem.code === 'NODE_NOT_FIT';

/** The findings alone, without the API's hint to set `force`: the dialogs have a button for that. */
export const incompatibilityOf = (problem: unknown): unknown =>
  isIncompatible(problem)
    ? new ApiProblem(problem.status, problem.code, problem.fields.url ?? problem.message)
    : problem;
