import type { FailureFacts } from '../../../protocol/errors.ts';
import { type FilterKind, filterFacts } from '../../../protocol/geyser/request/request-faults.ts';
import { GrpcError } from '../../../protocol/grpc/status.ts';

/** An error with the text of the Yellowstone plugin (yellowstone-grpc-geyser, `FilterError`). */
export class InvalidFilter extends Error {
  override readonly name = 'InvalidFilter';
  readonly facts: FailureFacts | undefined;

  constructor(message: string, facts?: FailureFacts) {
    super(message);
    this.facts = facts;
  }
}

/** @throws InvalidFilter, GrpcError with facts that identify the filter. */
export function compileOne<T>(kind: FilterKind, name: string, compile: () => T): T {
  try {
    return compile();
  } catch (cause) {
    const facts = filterFacts(kind, name);
    if (cause instanceof InvalidFilter) throw new InvalidFilter(cause.message, { ...facts, ...cause.facts });
    if (cause instanceof GrpcError)
      throw new GrpcError(cause.code, cause.message, { ...facts, ...cause.facts });
    throw cause;
  }
}

/** Converts an InvalidFilter to a GrpcError INVALID_ARGUMENT. */
export function orInvalidArgument<T>(what: string, compile: () => T): T {
  try {
    return compile();
  } catch (cause) {
    if (!(cause instanceof InvalidFilter)) throw cause;
    throw new GrpcError('INVALID_ARGUMENT', `failed to create ${what}: ${cause.message}`, cause.facts);
  }
}
