import { Failure } from '../errors.ts';

/** What is wrong with one field of a request, with what to send instead. */
export type FieldProblem = Readonly<{
  /** Its name on the wire, with a place inside it where it has one: `token_addresses[3]`. */
  field: string;
  message: string;
}>;

/** Fields of a REST request that cannot be taken. Source: rest-api.md §1, "Errors". */
export class InvalidFields extends Failure {
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    super('INVALID_FIELDS');
    this.problems = problems;
  }
}
