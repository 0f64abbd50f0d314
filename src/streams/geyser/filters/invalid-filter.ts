import { GrpcError } from '../../../protocol/grpc/status.ts';

/** A filter asks for what cannot be; the words are the plugin's (yellowstone-grpc-geyser, `FilterError`). */
export class InvalidFilter extends Error {
  override readonly name = 'InvalidFilter';
}

/**
 * Runs a compilation of filters.
 * @param what - "filter" or "deshred filter".
 * @throws GrpcError INVALID_ARGUMENT in place of InvalidFilter.
 */
export function orInvalidArgument<T>(what: string, compile: () => T): T {
  try {
    return compile();
  } catch (cause) {
    if (!(cause instanceof InvalidFilter)) throw cause;
    throw new GrpcError('INVALID_ARGUMENT', `failed to create ${what}: ${cause.message}`);
  }
}
