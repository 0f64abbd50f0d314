import { expect } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';

/** Failure of a call. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Failure);
  return error as Failure;
}
