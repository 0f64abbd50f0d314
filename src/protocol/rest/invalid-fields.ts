import { Failure } from '../errors.ts';

export type FieldProblem = Readonly<{
  /** Field name in the request, with a path inside the field if needed: `token_addresses[3]`. */
  field: string;
  message: string;
}>;

/** Source: rest-api.md §1, "Errors". */
export class InvalidFields extends Failure {
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    super('INVALID_FIELDS');
    this.problems = problems;
  }
}
